import { ApiError } from '@crux/client'
import type { Deployment } from '@crux/contract'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { client, queryClient, queryKey } from '../../api/client.ts'
import { useDenied, useDeniedPart } from '../../api/me.ts'
import { sessionLost } from '../../api/session.ts'
import { confirm } from '../../components/confirm.tsx'
import { toastError } from '../../components/toasts.tsx'
import { links } from '../../links.ts'

type Named = Pick<Deployment, 'id' | 'prefix' | 'node' | 'project' | 'version'>
type Wish = { deployment: Named; instances?: string[]; recreate?: boolean } | { deployment: Named; release: number }

/** Starts a release (or an earlier one again) and goes to its progress. Another protected deployment in the way is asked about. */
export function useStart(teamSlug: string) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const startDenied = useDenied('deployments.start')
  const rollBackDenied = useDenied('deployments.start-release')
  const protectDenied = useDeniedPart('deployments.protect')
  const start = useMutation<boolean, unknown, Wish>({
    mutationFn: async (wish) => {
      try {
        await send(teamSlug, wish, false)
      } catch (error) {
        if (!(error instanceof ApiError) || error.property !== 'protectedDeploymentId') throw error
        const { deployment } = wish
        const sure = await confirm({
          title: t('start.protectedTitle', { prefix: deployment.prefix, node: deployment.node.name }),
          text: protectDenied ? `${t('start.protectedText')} ${protectDenied}.` : t('start.protectedText'),
          ...(protectDenied
            ? { action: t('common:close'), info: true }
            : { action: t('start.protectedAction'), danger: true }),
        })
        if (!sure || protectDenied) return false
        await send(teamSlug, wish, true)
      }
      return true
    },
    onSuccess: async (started, { deployment }) => {
      if (!started) return
      void queryClient.invalidateQueries({ queryKey: queryKey('deployments.list') })
      void queryClient.invalidateQueries({
        queryKey: queryKey('deployments.get', { params: { teamSlug, deploymentId: deployment.id } }),
      })
      void queryClient.invalidateQueries({
        queryKey: queryKey('deployments.releases', { params: { teamSlug, deploymentId: deployment.id } }),
      })
      await navigate(links.deploymentProgress(teamSlug, deployment.id))
    },
    onError: (error) => {
      if (!sessionLost(error)) toastError(error)
    },
  })
  return {
    starting: start.isPending,
    startDenied,
    rollBackDenied,
    start: (deployment: Named, options: { instances?: string[]; recreate?: boolean } = {}) =>
      start.mutate({ deployment, ...options }),
    /** From a list, where nothing was seen of what will change: asked first. */
    askAndStart: async (deployment: Named) => {
      const name = `${deployment.project.name} ${deployment.version.name}`
      const sure = await confirm({
        title: t('start.title', { name, node: deployment.node.name }),
        text: t('start.text', { prefix: deployment.prefix }),
        action: t('start.action'),
      })
      if (sure) start.mutate({ deployment })
    },
    rollBack: (deployment: Named, release: number) => start.mutate({ deployment, release }),
  }
}

async function send(teamSlug: string, wish: Wish, ignoreProtected: boolean): Promise<void> {
  const deploymentId = wish.deployment.id
  const query = ignoreProtected ? { ignoreProtected: 'true' } : {}
  if ('release' in wish) {
    await client.call('deployments.start-release', { params: { teamSlug, deploymentId, number: wish.release }, query })
    return
  }
  const { instances, recreate } = wish
  await client.call('deployments.start', { params: { teamSlug, deploymentId }, query, body: { instances, recreate } })
}
