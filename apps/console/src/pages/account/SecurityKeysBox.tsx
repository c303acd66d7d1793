import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { fieldValue } from '../../api/identity.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { TextField } from '../../forms/fields.tsx'
import { useZodForm } from '../../forms/use-form.ts'
import { hasWebAuthn, makeKey } from '../auth/web-authn.ts'
import { KeyRows } from './KeyRows.tsx'
import { getKeys } from './settings-nodes.ts'
import type { Settings } from './use-settings.ts'

const Form = z.object({ name: z.string().trim().min(1).max(60) })

/** Security keys, each with a name that the user chooses. */
export function SecurityKeysBox({ settings }: { settings: Settings }) {
  const { t } = useTranslation('account')
  const { flow, pending, press, ask } = settings
  const [adding, setAdding] = useState(false)
  const form = useZodForm(Form, { name: '' })
  const options = fieldValue(flow, 'webauthn_register_trigger')
  const add = async ({ name }: z.output<typeof Form>) => {
    await press(async () => {
      const made = await makeKey(options)
      return { method: 'webauthn', webauthn_register: made, webauthn_register_displayname: name }
    }, t('keys.done'))
    form.reset()
    setAdding(false)
  }
  return (
    <Box
      title={t('keys.title')}
      actions={
        !adding && (
          <Button
            size="sm"
            icon={KeyRound}
            disabledReason={!hasWebAuthn() ? t('keys.noBrowser') : options === '' && t('factors.notOffered')}
            onClick={() => setAdding(true)}
          >
            {t('keys.add')}
          </Button>
        )
      }
    >
      {adding && (
        <div className="max-w-sm border-b border-line px-3.5 py-4">
          <FormPanel form={form} submitLabel={t('keys.touch')} loading={pending} error={null} onSubmit={add}>
            <TextField form={form} name="name" label={t('keys.name')} help={t('keys.nameHelp')} autoComplete="off" />
          </FormPanel>
        </div>
      )}
      <KeyRows
        keys={getKeys(flow, 'webauthn_remove')}
        empty={t('keys.empty')}
        onRemove={(key) => {
          const question = {
            title: t('keys.removeTitle', { name: key.name }),
            text: t('keys.removeText'),
            action: t('keys.remove'),
            danger: true,
          }
          return ask(question, { method: 'webauthn', webauthn_remove: key.id }, t('keys.removed'))
        }}
      />
    </Box>
  )
}
