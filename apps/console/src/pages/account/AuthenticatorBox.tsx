import { Smartphone } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { getNode } from '../../api/identity.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { Pill } from '../../components/Tag.tsx'
import { CodeForm } from '../auth/CodeStep.tsx'
import { getImage, getText } from './settings-nodes.ts'
import type { Settings } from './use-settings.ts'

/** An authenticator app: a QR code, or a key to type, and one code to prove that it works. */
export function AuthenticatorBox({ settings }: { settings: Settings }) {
  const { t } = useTranslation('account')
  const { flow, pending, error, send, ask } = settings
  const [setting, setSetting] = useState(false)
  const enrolled = getNode(flow, 'totp_unlink') !== undefined
  const secret = getText(flow, 'totp_secret_key')
  const remove = () => {
    const question = {
      title: t('totp.removeTitle'),
      text: t('totp.removeText'),
      action: t('totp.remove'),
      danger: true,
    }
    return ask(question, { method: 'totp', totp_unlink: true }, t('totp.removed'))
  }
  return (
    <Box
      title={t('totp.title')}
      trailing={enrolled && <Pill tone="accent">{t('factors.on')}</Pill>}
      actions={
        enrolled ? (
          <Button size="sm" variant="bad" busy={pending} onClick={remove}>
            {t('totp.remove')}
          </Button>
        ) : (
          !setting && (
            <Button
              size="sm"
              icon={Smartphone}
              disabledReason={secret === '' && t('factors.notOffered')}
              onClick={() => setSetting(true)}
            >
              {t('totp.setUp')}
            </Button>
          )
        )
      }
    >
      {enrolled || !setting ? (
        <p className="px-3.5 py-3 text-ink-2">{t(enrolled ? 'totp.onText' : 'totp.text')}</p>
      ) : (
        <div className="flex flex-wrap gap-6 px-3.5 py-4">
          <img
            src={getImage(flow, 'totp_qr')}
            alt={t('totp.qr')}
            width={200}
            height={200}
            className="rounded-md border border-line p-1"
          />
          <div className="grid max-w-sm flex-1 basis-64 content-start gap-4">
            <p className="text-ink-2">{t('totp.scan')}</p>
            <p className="flex items-center gap-1">
              <span className="mono min-w-0 break-all">{secret.match(/.{1,4}/g)?.join(' ')}</span>
              <CopyButton text={secret} label={t('totp.copy')} />
            </p>
            <CodeForm
              name="totp_code"
              label={t('totp.code')}
              submitLabel={t('totp.confirm')}
              pending={pending}
              error={error}
              onSubmit={async (code) => {
                await send({ fields: { method: 'totp', totp_code: code }, done: t('totp.done') })
                setSetting(false)
              }}
            />
          </div>
        </div>
      )}
    </Box>
  )
}
