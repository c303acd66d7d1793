import { ApiError } from '@crux/client'
import type { Deployment } from '@crux/contract'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, client, queryClient, queryKey } from '../../api/client.ts'
import { useDenied, useDeniedPart } from '../../api/me.ts'
import { sessionLost } from '../../api/session.ts'
import { confirm } from '../../components/confirm.tsx'
import { toastError } from '../../components/toasts.tsx'
import { links } from '../../links.ts'
import { type Preview, standingProblems } from './change-lines.ts'

type Named = Pick<Deployment, 'id' | 'prefix' | 'node' | 'project' | 'version'>
type Options = {
  instances?: string[]
  recreate?: boolean
  /** Of the preview that was shown: a start of anything else is refused. */
  expectedHash?: string | undefined
}
type Wish = ({ deployment: Named } & Options) | { deployment: Named; release: number }

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
    onError: (error, { deployment }) => {
      if (error instanceof ApiError && error.property === 'expectedHash')
        for (const operation of ['deployments.preview', 'deployments.get'] as const)
          void queryClient.invalidateQueries({
            queryKey: queryKey(operation, { params: { teamSlug, deploymentId: deployment.id } }),
          })
      if (!sessionLost(error)) toastError(error)
    },
  })
  // A second press before the button knows that it is busy starts nothing.
  const underWay = useRef(false)
  const startOnce = (wish: Wish) => {
    if (underWay.current) return
    underWay.current = true
    start.mutate(wish, {
      onSettled: () => {
        underWay.current = false
      },
    })
  }
  return {
    starting: start.isPending,
    startDenied,
    rollBackDenied,
    start: (deployment: Named, options: Options = {}) => startOnce({ deployment, ...options }),
    /** From a list, where nothing was seen of what will change: said and asked first. */
    askAndStart: async (deployment: Named) => {
      const name = `${deployment.project.name} ${deployment.version.name}`
      const params = { teamSlug, deploymentId: deployment.id }
      // Without an answer the question is asked all the same: the server checks everything again.
      const preview = await queryClient.fetchQuery(apiQuery('deployments.preview', { params })).catch(() => undefined)
      const problems = standingProblems(preview)
      if (problems.length > 0) {
        const open = await confirm({
          title: t('start.problemsTitle', { name, count: problems.length }),
          text: sentences(problems.map((problem) => problem.description)),
          action: t('start.open'),
        })
        if (open) await navigate(links.deployment(teamSlug, deployment.id))
        return
      }
      const pausing = preview?.instances.filter((instance) => instance.action === 'replace-with-pause') ?? []
      const names = pausing.map((instance) => instance.containerName).join(', ')
      const reason = [...new Set(pausing.flatMap((instance) => instance.reason ?? []))]
        .map((text) => text.replace(/[.!]$/, ''))
        .join('; ')
      const sure = await confirm({
        title: t('start.title', { name, node: deployment.node.name }),
        text: sentences([
          t('start.text', { prefix: deployment.prefix }),
          ...(pausing.length === 0
            ? [t('start.noDowntime')]
            : [t('start.pauses', { names, count: pausing.length, reason })]),
          ...(pausing.length > 0 && pausing.length < (preview?.instances.length ?? 0) ? [t('start.others')] : []),
          ...warningSentences(preview, t),
          ...(preview?.removed.map((removed) => t('changes.removed', { name: removed })) ?? []),
        ]),
        action: t('start.action'),
      })
      if (sure) startOnce({ deployment, expectedHash: preview?.hash })
    },
    rollBack: (deployment: Named, release: number) => startOnce({ deployment, release }),
  }
}

type T = ReturnType<typeof useTranslation<['deployments', 'common']>>['t']

/** What is allowed but worth knowing, above all what does nothing on the node. A question holds a few; the rest is on the page. */
function warningSentences(preview: Preview | undefined, t: T): string[] {
  const all =
    preview?.instances.flatMap(({ containerName, warnings }) =>
      (warnings ?? []).map(({ description }) => t('start.warning', { name: containerName, text: description })),
    ) ?? []
  const more = all.length - warningsMax
  return more > 0 ? [...all.slice(0, warningsMax), t('start.moreWarnings', { count: more })] : all
}
const warningsMax = 4

/** As one text, each with its full stop. */
const sentences = (parts: readonly string[]) => parts.map((part) => (/[.!?]$/.test(part) ? part : `${part}.`)).join(' ')

async function send(teamSlug: string, wish: Wish, ignoreProtected: boolean): Promise<void> {
  const deploymentId = wish.deployment.id
  const query = ignoreProtected ? { ignoreProtected: 'true' } : {}
  if ('release' in wish) {
    await client.call('deployments.start-release', { params: { teamSlug, deploymentId, number: wish.release }, query })
    return
  }
  const { instances, recreate, expectedHash } = wish
  const body = { instances, recreate, expectedHash }
  await client.call('deployments.start', { params: { teamSlug, deploymentId }, query, body })
}
