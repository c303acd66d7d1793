import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { TokenDetails } from '../account/TokenDetails.tsx'

/** The token with which a registry notifies Crux of pushes, and the configuration for a registry of the distribution project. */
export function RegistryToken({ teamSlug, registry }: { teamSlug: string; registry: ResponseOf<'registries.get'> }) {
  const { t } = useTranslation('tokens')
  const params = { teamSlug, registryId: registry.id }
  const stale = [queryKey('registries.get', { params })]
  const create = useCall('registries.create-token', { stale, toast: false })
  const revoke = useCall('registries.delete-token', { stale, done: t('revoked') })
  return (
    <TokenDetails
      of="registry"
      token={registry.registryToken}
      creating={create}
      create={async ({ expirationInDays }) => {
        const { token, config } = await create.mutateAsync({ params, body: { expirationInDays } })
        return { token, more: { label: t('shown.config'), text: config } }
      }}
      revoke={() => revoke.mutate({ params })}
      revokeDenied={revoke.denied}
    />
  )
}
