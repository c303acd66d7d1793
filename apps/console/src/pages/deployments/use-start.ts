import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { useFreezeQuestion } from '../../api/use-freeze-question.ts'
import { confirm } from '../../components/confirm.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { links } from '../../routing/links.ts'
import { blockingProblems, findFreeze, type Preview, unconfirmedDangers } from './change-lines.ts'
import { useCurrentPreview } from './use-current-preview.ts'
import { type NamedDeployment, type StartOptions, useStartCall } from './use-start-call.ts'

/** Starts a release (or an earlier one again) and goes to its progress. Another protected deployment in the way is asked about. */
export function useStart(teamSlug: string) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const startDenied = useDenied('deployments.start')
  const rollBackDenied = useDenied('deployments.start-release')
  const { startOnce, isPending } = useStartCall(teamSlug)
  const { preview: ask, asking } = useCurrentPreview(teamSlug)
  const { freezeDenied, askWhy } = useFreezeQuestion()
  const getName = ({ project, version }: NamedDeployment) => versionTitle(project, version)
  /** Problems and settings to confirm are shown on the page of the deployment first. A freeze only tells users who may start. */
  const leadsElsewhere = async (deployment: NamedDeployment, preview: Preview): Promise<boolean> => {
    const freeze = findFreeze(preview)
    if (freeze && freezeDenied) {
      await askWhy(freeze.description)
      return true
    }
    const problems = blockingProblems(preview)
    const dangers = problems.length > 0 ? [] : unconfirmedDangers(preview)
    if (problems.length === 0 && dangers.length === 0) return false
    const name = getName(deployment)
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
    starting: isPending || asking,
    startDenied,
    rollBackDenied,
    /** What the page showed. Where it showed nothing yet, a start that has nothing to fix and confirms nothing goes on. */
    start: async (deployment: NamedDeployment, options: StartOptions = {}) => {
      if (options.expectedHash !== undefined) return startOnce({ deployment, ...options })
      const preview = await ask(deployment, options.instances)
      if (preview && !(await leadsElsewhere(deployment, preview)))
        startOnce({ deployment, ...options, expectedHash: preview.hash })
    },
    /** From a list, which shows no preview: the dialog shows the changes and asks first. */
    askAndStart: async (deployment: NamedDeployment) => {
      const preview = await ask(deployment)
      if (!preview || (await leadsElsewhere(deployment, preview))) return
      const sure = await confirm({
        title: t('start.title', { name: getName(deployment), node: deployment.node.name }),
        text: sentences([t('start.text', { prefix: deployment.prefix }), ...effectSentences(preview, t)]),
        action: t('start.action'),
      })
      if (sure) startOnce({ deployment, expectedHash: preview.hash })
    },
    rollBack: (deployment: NamedDeployment, release: number) => startOnce({ deployment, release }),
    /** Takes back what other programs have changed in the cluster since the release that runs. */
    putBack: (deployment: NamedDeployment, release: number) => startOnce({ deployment, release, takeBackFields: true }),
  }
}

type T = ReturnType<typeof useTranslation<['deployments', 'common']>>['t']

/** What a start does to the running containers. */
function effectSentences(preview: Preview, t: T): string[] {
  const stopping = preview.instances.filter((instance) => instance.action === 'replace-with-pause')
  const names = stopping.map((instance) => instance.containerName).join(', ')
  const reason = [...new Set(stopping.flatMap((instance) => instance.reason ?? []))]
    .map((text) => text.replace(/[.!]$/, ''))
    .join('; ')
  return [
    stopping.length === 0 ? t('start.noDowntime') : t('start.pauses', { names, count: stopping.length, reason }),
    ...(stopping.length > 0 && stopping.length < preview.instances.length ? [t('start.others')] : []),
    ...warningSentences(preview, t),
    ...preview.removed.map((removed) => t('changes.removed', { name: removed })),
  ]
}

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
