import { LogIn, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useCall } from '../../api/client.ts'
import { reauthenticationAddress } from '../../api/reauthentication.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { describeError } from '../../errors/describe-error.ts'
import { FormBanner } from '../../forms/FormShell.tsx'

/** Deletes the account of the signed-in user. The server returns what prevents it. */
export function DeleteAccount({ email }: { email: string }) {
  const { t } = useTranslation('account')
  const remove = useCall('users.delete-me', {
    toast: false,
    // A whole load: nothing of the deleted account may stay in memory.
    onSuccess: () => location.assign('/auth/login'),
  })
  const { error } = remove
  const question = {
    title: t('deleteAccount.question'),
    text: t('deleteAccount.lost'),
    action: t('deleteAccount.action'),
    danger: true,
    typeName: email,
  }
  return (
    <Box title={t('deleteAccount.title')}>
      <div className="grid gap-3 px-3.5 py-3">
        <p className="text-ink-2">{t('deleteAccount.text')}</p>
        {error && <FormBanner>{describeError(error).text}</FormBanner>}
        <div className="flex flex-wrap gap-2">
          <Button
            variant="bad"
            icon={Trash2}
            busy={remove.isPending}
            disabledReason={remove.denied}
            onClick={() => void remove.ask(question, { body: { email } })}
          >
            {t('deleteAccount.action')}
          </Button>
          {error?.property === 'session' && (
            <Button icon={LogIn} onClick={() => location.assign(reauthenticationAddress(location.pathname))}>
              {t('deleteAccount.signInAgain')}
            </Button>
          )}
        </div>
      </div>
    </Box>
  )
}
