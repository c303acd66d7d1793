import { type ResponseOf, ServiceAccountWrite } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, TextAreaField, TextField } from './fields.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; account?: ResponseOf<'service-accounts.list'>[number]; onClose: () => void }
const roles = ['user', 'admin'] as const

/** Creates a service account, or changes the one that is given. */
export function ServiceAccountForm({ teamSlug, account, onClose }: Props) {
  const { t } = useTranslation(['teams', 'common'])
  const { updated } = useFormEnd(onClose)
  const form = useZodForm(ServiceAccountWrite, {
    name: account?.name ?? '',
    description: account?.description ?? '',
    role: account?.role ?? 'user',
  })
  const done = {
    stale: [queryKey('service-accounts.list')],
    toast: false,
    onSuccess: () => updated(t('accounts.saved')),
  }
  const create = useCall('service-accounts.create', done)
  const update = useCall('service-accounts.update', done)
  const save = (body: z.output<typeof ServiceAccountWrite>) =>
    account
      ? update.mutateAsync({ params: { teamSlug, serviceAccountId: account.id }, body })
      : create.mutateAsync({ params: { teamSlug }, body })
  return (
    <FormSheet
      title={account ? t('accounts.editTitle', { name: account.name }) : t('accounts.add')}
      description={t('accounts.text')}
      form={form}
      {...(account ? { call: update } : { call: create, submitLabel: t('accounts.create') })}
      onClose={onClose}
      onSubmit={save}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional rows={2} />
      <ChipsField
        form={form}
        name="role"
        label={t('details.role')}
        help={t(`details.roleText.${form.watch('role')}`)}
        options={roles.map((value) => ({ value, label: t(`common:role.${value}`) }))}
      />
    </FormSheet>
  )
}
