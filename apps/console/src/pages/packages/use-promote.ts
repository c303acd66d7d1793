import type { Input } from '@crux/client'
import { ApiError } from '@crux/client'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { queryClient, queryKey, useCall } from '../../api/client.ts'
import { useDeniedPart } from '../../api/me.ts'
import { confirm } from '../../components/confirm.tsx'
import { toastSuccess, toastWarning } from '../../components/toasts.tsx'
import { links } from '../../routing/links.ts'
import type { PromotionTarget } from './board.ts'

/** Queries that a new deployment of an environment changes. */
const stale = [
  queryKey('packages.board'),
  queryKey('packages.get-environment'),
  queryKey('packages.promotions'),
  queryKey('deployments.list'),
  queryKey('nodes.deployments'),
  queryKey('versions.get'),
]

type Params = { teamSlug: string; packageId: string }
type Body = Input<'packages.promote'>['body']
type Version = { id: string; name: string }

/** The deployment that is there already; 409 carries its id. */
const getExisting = (error: unknown): string | undefined =>
  error instanceof ApiError && error.status === 409 && typeof error.value === 'string' ? error.value : undefined

const hasProperty = (error: unknown, property: string): boolean =>
  error instanceof ApiError && error.status === 412 && error.property === property

/** Starts the deployment of a version in an environment, or only creates it. Refusals lead on: to a question, or to what is there already. */
export function usePromote({ teamSlug, packageId }: Params, target: PromotionTarget, onDone: () => void) {
  const { t } = useTranslation(['packages', 'deployments', 'common'])
  const navigate = useNavigate()
  const protectDenied = useDeniedPart('deployments.protect')
  const { environment, project } = target
  const params = { teamSlug, packageId, environmentId: environment.id }
  const promote = useCall('packages.promote', {
    stale,
    toast: (error) => !getExisting(error) && !hasProperty(error, 'protectedDeploymentId'),
  })
  const prepare = useCall('packages.create-deployment', { stale, toast: (error) => !getExisting(error) })

  const openExisting = async (deploymentId: string, version: Version) => {
    toastWarning(t('promote.existingToast', { version: version.name }))
    onDone()
    await navigate(links.deployment(teamSlug, deploymentId))
  }
  const mayReplace = async (): Promise<boolean> => {
    const sure = await confirm({
      title: t('deployments:start.protectedTitle', { prefix: environment.prefix, node: environment.node.name }),
      text: [t('deployments:start.protectedText'), ...(protectDenied ? [`${protectDenied}.`] : [])].join(' '),
      ...(protectDenied
        ? { action: t('common:close'), info: true }
        : { action: t('deployments:start.protectedAction'), danger: true }),
    })
    return sure && !protectDenied
  }
  const start = async (version: Version, body: Body): Promise<void> => {
    try {
      await promote.mutateAsync({ params, body })
      toastSuccess(
        t('promote.started', { project: project.name, version: version.name, environment: environment.name }),
      )
      onDone()
    } catch (error) {
      const existing = getExisting(error)
      if (existing) return openExisting(existing, version)
      if (hasProperty(error, 'protectedDeploymentId') && !body.ignoreProtected) {
        if (await mayReplace()) await start(version, { ...body, ignoreProtected: true })
        return
      }
      // What was previewed is not what would be deployed any more, so it is shown again.
      void queryClient.invalidateQueries({ queryKey: queryKey('packages.preview-promotion', { params }) })
      void queryClient.invalidateQueries({ queryKey: queryKey('packages.get-environment', { params }) })
      void queryClient.invalidateQueries({ queryKey: queryKey('packages.board', { params: { teamSlug, packageId } }) })
    }
  }
  return {
    denied: promote.denied,
    prepareDenied: prepare.denied,
    isPending: promote.isPending,
    isPreparing: prepare.isPending,
    start,
    prepare: async (version: Version, note: string | null) => {
      try {
        const { id } = await prepare.mutateAsync({ params, body: { versionId: version.id, note } })
        onDone()
        await navigate(links.deployment(teamSlug, id))
      } catch (error) {
        const existing = getExisting(error)
        if (existing) await openExisting(existing, version)
      }
    },
  }
}
