import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { useDeniedPart, useMe } from '../../api/me.ts'
import { TokenDetails } from '../account/TokenDetails.tsx'

type Props = { teamSlug: string; deployment: ResponseOf<'deployments.get'> }

/** The token with which a pipeline starts this one deployment. Rolling versions only: an incremental one is deployed once. */
export function DeploymentToken({ teamSlug, deployment }: Props) {
  const { t } = useTranslation('tokens')
  const params = { teamSlug, deploymentId: deployment.id }
  const stale = [queryKey('deployments.get', { params })]
  const create = useCall('deployments.create-token', { stale, toast: false })
  const revoke = useCall('deployments.delete-token', { stale, done: t('revoked') })
  const othersDenied = useDeniedPart('tokens.of-others')
  const isOwn = deployment.token?.createdById === useMe()?.user.id
  return (
    <TokenDetails
      of="deployment"
      token={deployment.token}
      creating={create}
      create={async (body) => {
        const { token, curl } = await create.mutateAsync({ params, body })
        return { token, more: { label: t('shown.curl'), text: curl } }
      }}
      revoke={() => revoke.mutate({ params })}
      revokeDenied={revoke.denied ?? (isOwn ? null : othersDenied)}
    />
  )
}
