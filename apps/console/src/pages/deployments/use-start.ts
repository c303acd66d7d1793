import { ApiError } from '@crux/client'
import type { Deployment } from '@crux/contract'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, client, queryClient, queryKey } from '../../api/client.ts'
import { useDenied, useDeniedPart } from '../../api/me.ts'
import { sessionLost } from '../../api/session.ts'
import { confirm } from '../../components/confirm.tsx'
import { toastError } from '../../components/toasts.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { links } from '../../routing/links.ts'
import { blockingProblems, type Preview, unconfirmedDangers } from './change-lines.ts'

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
  // A second click before the button is disabled must not start a second release.
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
  /** The current preview of a start. Undefined if it failed, which is shown: nothing starts without a preview. */
  const [asking, setAsking] = useState(false)
  const ask = async (deployment: Named, instances?: readonly string[]): Promise<Preview | undefined> => {
    setAsking(true)
    const params = { teamSlug, deploymentId: deployment.id }
    const query = instances && { query: { instances: instances.join(',') } }
    try {
      return await queryClient.fetchQuery({ ...apiQuery('deployments.preview', { params, ...query }), staleTime: 0 })
    } catch (error) {
      if (!sessionLost(error)) toastError(error)
      return undefined
    } finally {
      setAsking(false)
    }
  }
  const nameOf = ({ project, version }: Named) => versionTitle(project, version)
  /** Problems and settings to confirm are shown on the page of the deployment first. */
  const leadsToPage = async (deployment: Named, preview: Preview): Promise<boolean> => {
    const problems = blockingProblems(preview)
    const dangers = problems.length > 0 ? [] : unconfirmedDangers(preview)
    if (problems.length === 0 && dangers.length === 0) return false
    const name = nameOf(deployment)
    const open = await confirm({
      title:
        problems.length > 0
          ? t('start.problemsTitle', { name, count: problems.length })
          : t('start.dangersTitle', { name, node: deployment.node.name }),
      text:
        problems.length > 0
          ? sentences(problems.map((problem) => problem.description))
          : t('start.dangersText', { names: dangers.map((one) => one.containerName).join(', ') }),
      action: t('start.open'),
    })
    if (open) await navigate(links.deployment(teamSlug, deployment.id))
    return true
  }
  return {
    starting: start.isPending || asking,
    startDenied,
    rollBackDenied,
    /** What the page showed. Where it showed nothing yet, a start that has nothing to fix and confirms nothing goes on. */
    start: async (deployment: Named, options: Options = {}) => {
      if (options.expectedHash !== undefined) return startOnce({ deployment, ...options })
      const preview = await ask(deployment, options.instances)
      if (preview && !(await leadsToPage(deployment, preview)))
        startOnce({ deployment, ...options, expectedHash: preview.hash })
    },
    /** From a list, which shows no preview: the dialog shows the changes and asks first. */
    askAndStart: async (deployment: Named) => {
      const preview = await ask(deployment)
      if (!preview || (await leadsToPage(deployment, preview))) return
      const pausing = preview.instances.filter((instance) => instance.action === 'replace-with-pause')
      const names = pausing.map((instance) => instance.containerName).join(', ')
      const reason = [...new Set(pausing.flatMap((instance) => instance.reason ?? []))]
        .map((text) => text.replace(/[.!]$/, ''))
        .join('; ')
      const sure = await confirm({
        title: t('start.title', { name: nameOf(deployment), node: deployment.node.name }),
        text: sentences([
          t('start.text', { prefix: deployment.prefix }),
          ...(pausing.length === 0
            ? [t('start.noDowntime')]
            : [t('start.pauses', { names, count: pausing.length, reason })]),
          ...(pausing.length > 0 && pausing.length < preview.instances.length ? [t('start.others')] : []),
          ...warningSentences(preview, t),
          ...preview.removed.map((removed) => t('changes.removed', { name: removed })),
        ]),
        action: t('start.action'),
      })
      if (sure) startOnce({ deployment, expectedHash: preview.hash })
    },
    rollBack: (deployment: Named, release: number) => startOnce({ deployment, release }),
  }
}

type T = ReturnType<typeof useTranslation<['deployments', 'common']>>['t']

/** Warnings, mostly on settings without an effect on the node. The dialog shows a few; the page shows all. */
function warningSentences(preview: Preview, t: T): string[] {
  const all = preview.instances.flatMap(({ containerName, warnings }) =>
    (warnings ?? []).map(({ description }) => t('start.warning', { name: containerName, text: description })),
  )
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
