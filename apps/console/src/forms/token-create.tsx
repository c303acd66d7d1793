import type { ApiError } from '@crux/client'
import { limits, type TokenScope, tokenScopes } from '@crux/contract'
import { LogIn } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { Button } from '../components/Button.tsx'
import { Copyable } from '../components/Copyable.tsx'
import { ShownOnceDialog } from '../components/ShownOnceDialog.tsx'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, TextField } from './fields.tsx'
import { dropTokenDraft, readTokenDraft, signInAgain } from './token-draft.ts'
import { useZodForm } from './use-form.ts'

const expiries = ['30', '60', '90', '0'] as const
const Form = z.object({
  name: z.string().trim().min(limits.name.min).max(limits.name.max),
  expiry: z.enum(expiries).transform(Number),
  scope: z.enum(tokenScopes),
})
type Values = z.output<typeof Form>
/** `more` is what a user pastes elsewhere, with the token in it. */
export type Created = { token: string; more?: { label: string; text: string } }

type Props = {
  title: string
  /** Whose token it becomes: what was typed is found again by it after a new sign-in. */
  draftKey: string
  description: string
  /** A token that there is one of needs no name. */
  nameless?: boolean
  /** Without it, the purpose of the token sets its scope. */
  scopes?: readonly TokenScope[]
  /** `expiry` in days, 0 for never. */
  create: (values: Values) => Promise<Created>
  /** Of the call that `create` makes. */
  creating: { isPending: boolean; error: ApiError | null; denied: string | null }
  onClose: () => void
}

/** Creates a token and shows it once. */
export function TokenCreate({ title, draftKey, description, nameless, scopes, create, creating, onClose }: Props) {
  const { t } = useTranslation('tokens')
  const [created, setCreated] = useState<Created | null>(null)
  const [draft] = useState(() => readTokenDraft(draftKey))
  const form = useZodForm(Form, draft ?? { name: nameless ? title : '', expiry: '90', scope: scopes?.[0] ?? 'full' })
  useEffect(dropTokenDraft, [])
  if (created) return <Shown created={created} onClose={onClose} />
  return (
    <FormSheet
      title={title}
      description={description}
      form={form}
      submitLabel={t('create')}
      call={creating}
      fields={{ expirationInDays: 'expiry' }}
      onClose={onClose}
      onSubmit={async (values) => setCreated(await create(values))}
    >
      {creating.error?.property === 'session' && form.formState.submitCount > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-2 rounded-md bg-sunken px-2.5 py-2">
          <span className="text-ink-2">{t('signInAgainText')}</span>
          <Button
            icon={LogIn}
            onClick={() => {
              const values = form.getValues()
              signInAgain(draftKey, values, () => form.reset(values))
            }}
          >
            {t('signInAgain')}
          </Button>
        </div>
      )}
      {!nameless && (
        <TextField form={form} name="name" label={t('name')} help={t('nameHelp', limits.name)} autoComplete="off" />
      )}
      {scopes && scopes.length > 1 && (
        <ChipsField
          form={form}
          name="scope"
          label={t('scope')}
          help={t(`scopeHelp.${form.watch('scope')}`)}
          options={scopes.map((value) => ({ value, label: t(`scopes.${value}`) }))}
        />
      )}
      <ChipsField
        form={form}
        name="expiry"
        label={t('expires')}
        help={form.watch('expiry') === '0' ? t('neverHelp') : undefined}
        options={expiries.map((value) => ({
          value,
          label: value === '0' ? t('never') : t('days', { count: Number(value) }),
        }))}
      />
    </FormSheet>
  )
}

function Shown({ created, onClose }: { created: Created; onClose: () => void }) {
  const { t } = useTranslation('tokens')
  return (
    <ShownOnceDialog title={t('shown.title')} text={t('shown.text')} done={t('shown.done')} onClose={onClose}>
      <Copyable label={t('shown.token')} text={created.token} />
      {created.more && <Copyable {...created.more} />}
    </ShownOnceDialog>
  )
}
