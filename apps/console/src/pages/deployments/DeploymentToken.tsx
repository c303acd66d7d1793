import type { Result } from '@crux/contract'
import { KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Box, Facts } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { later } from '../../components/later.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { Expiry } from '../account/use-token-columns.tsx'

const TokenCreate = later(() => import('../../forms/token-create.tsx').then((module) => module.TokenCreate))

/** The token with which a pipeline starts this one deployment. Rolling versions only: an incremental one is deployed once. */
export function DeploymentToken({ teamSlug, deployment }: { teamSlug: string; deployment: Result<'deployments.get'> }) {
  const { t } = useTranslation(['tokens', 'common'])
  const denied = useDenied('deployments.token')
  const [creating, setCreating] = useState(false)
  const params = { teamSlug, deploymentId: deployment.id }
  const stale = [queryKey('deployments.get', { params })]
  const create = useCall('deployments.create-token', { stale, toast: false })
  const revoke = useCall('deployments.delete-token', { stale, onSuccess: () => toastSuccess(t('revoked')) })
  const { token } = deployment
  const ask = async (name: string) => {
    const question = {
      title: t('revokeTitle', { name }),
      text: t('deployment.revokeText'),
      action: t('revoke'),
      danger: true,
    }
    if (await confirm(question)) revoke.mutate({ params })
  }
  return (
    <Box
      title={t('deployment.title')}
      tools={
        token ? (
          <Button size="sm" icon={Trash2} variant="bad" disabledReason={denied} onClick={() => void ask(token.name)}>
            {t('revoke')}
          </Button>
        ) : (
          <Button size="sm" icon={KeyRound} disabledReason={denied} onClick={() => setCreating(true)}>
            {t('create')}
          </Button>
        )
      }
    >
      {token ? (
        <Facts
          items={[
            { label: t('name'), value: token.name },
            { label: t('created'), value: <RelativeTime at={token.createdAt} /> },
            { label: t('expires'), value: <Expiry at={token.expiresAt} /> },
          ]}
        />
      ) : (
        <p className="px-3.5 py-3 text-ink-2">{t('deployment.none')}</p>
      )}
      {creating && (
        <TokenCreate
          title={t('deployment.add')}
          description={t('deployment.addText')}
          loading={create.isPending}
          error={create.error}
          create={({ name, expiry }) =>
            create.mutateAsync({ params, body: { name, expirationInDays: expiry === 0 ? null : expiry } })
          }
          onClose={() => setCreating(false)}
        />
      )}
    </Box>
  )
}
