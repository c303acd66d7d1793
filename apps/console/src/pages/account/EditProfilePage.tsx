import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { client } from '../../api/client.ts'
import { getCsrfToken, type Identity, identityQuery, isSignedInFully } from '../../api/identity.ts'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { TextField } from '../../forms/fields.tsx'
import { useZodForm } from '../../forms/use-form.ts'
import { links } from '../../routing/links.ts'
import { FlowGate } from '../auth/FlowGate.tsx'
import { followRedirect } from '../auth/follow-redirect.ts'
import { useSettingsFlow } from '../auth/use-settings-flow.ts'
import { getVerificationFlow } from '../auth/verification-flow.ts'
import { AccountHead } from './AccountHead.tsx'

const Form = z.object({
  email: z.email(),
  firstName: z.string().trim().min(1).max(16),
  lastName: z.string().trim().max(16),
})

export function EditProfilePage() {
  const { t } = useTranslation('account')
  const query = useQuery(identityQuery())
  return (
    <>
      <AccountHead title={t('profile.edit')} />
      <QueryView query={query} skeleton={<SkeletonRows rows={3} />}>
        {(identity) => isSignedInFully(identity) && <ProfileForm identity={identity} />}
      </QueryView>
    </>
  )
}

function ProfileForm({ identity }: { identity: Identity }) {
  const { t } = useTranslation(['account', 'common'])
  const navigate = useNavigate()
  const { email, firstName, lastName } = identity
  const form = useZodForm(Form, { email, firstName, lastName })
  const { opened, send, pending, error } = useSettingsFlow({
    returnTo: '/auth/settings/edit-profile',
    submit: (flow, values: z.output<typeof Form>) =>
      followRedirect(
        client.request('auth.edit-profile', { body: { flow: flow.id, csrfToken: getCsrfToken(flow), ...values } }),
      ),
    onDone: async (answer, values) => {
      toastSuccess(t('profile.saved'))
      form.reset(values)
      // A new address has to be confirmed where mail is set up.
      const verification = getVerificationFlow(answer)
      await navigate(verification ? links.verify(values.email, verification) : links.settings())
    },
  })
  return (
    <div className="max-w-md">
      <FlowGate opened={opened} fields={3}>
        <FormPanel form={form} guard submitLabel={t('common:save')} loading={pending} error={error} onSubmit={send}>
          <TextField form={form} name="firstName" label={t('profile.firstName')} autoComplete="given-name" />
          <TextField form={form} name="lastName" label={t('profile.lastName')} autoComplete="family-name" optional />
          <TextField
            form={form}
            name="email"
            type="email"
            label={t('profile.email')}
            help={t('profile.emailHelp')}
            autoComplete="email"
          />
        </FormPanel>
      </FlowGate>
    </div>
  )
}
