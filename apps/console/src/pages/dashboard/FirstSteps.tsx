import type { ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { Check, Play, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Button, IconButton } from '../../components/Button.tsx'
import { cx } from '../../components/class-names.ts'
import { confirm } from '../../components/confirm.tsx'
import { ProgressBar } from '../../components/ProgressBar.tsx'
import { links } from '../../routing/links.ts'

type Onboarding = ResponseOf<'dashboard.get'>['onboarding']

const steps = ['createNode', 'createProject', 'createVersion', 'addImages', 'addDeployment', 'deploy'] as const
type Step = (typeof steps)[number]

/** The first steps of a new team: a done step links to its result, the next one to its form. */
export function FirstSteps({ teamSlug, onboarding }: { teamSlug: string; onboarding: Onboarding }) {
  const { t } = useTranslation('dashboard')
  const hide = useCall('users.hide-onboarding', { stale: [queryKey('users.me')] })
  const next = steps.find((step) => !onboarding[step].done)
  const done = Object.values(onboarding).filter((step) => step.done).length
  const total = Object.keys(onboarding).length
  const isComplete = done === total

  const close = async () => {
    // Completed steps are hidden without a confirmation.
    if (
      isComplete ||
      (await confirm({ title: t('steps.hideTitle'), text: t('steps.hideText'), action: t('steps.hide') }))
    )
      hide.mutate({})
  }
  return (
    <Box
      title={t('steps.title')}
      trailing={t('steps.progress', { done, total })}
      actions={
        <IconButton icon={X} size="sm" label={t('steps.hide')} busy={hide.isPending} onClick={() => void close()} />
      }
    >
      <ProgressBar value={done / total} label={t('steps.title')} tone="running" className="rounded-none!" />
      {!onboarding.deploy.done && <RunAnImage teamSlug={teamSlug} />}
      {!isComplete && (
        <ol>
          {(['signUp', 'createTeam'] as const).map((step) => (
            <Row key={step} state="done" title={t(`steps.${step}`)} />
          ))}
          {steps.map((step) => (
            <Row
              key={step}
              state={onboarding[step].done ? 'done' : step === next ? 'next' : 'later'}
              title={t(`steps.${step}`)}
              text={t(`steps.${step}Text`)}
              action={<StepAction step={step} teamSlug={teamSlug} onboarding={onboarding} isNext={step === next} />}
            />
          ))}
        </ol>
      )}
    </Box>
  )
}

/** The short way through all steps. */
function RunAnImage({ teamSlug }: { teamSlug: string }) {
  const { t } = useTranslation('dashboard')
  const navigate = useNavigate()
  const denied = useDenied('projects.run')
  return (
    <div className="flex flex-wrap items-center gap-3 border-b border-line px-3.5 py-2">
      <p className="min-w-0 flex-1 basis-56 text-ink-2">{t('steps.runText')}</p>
      <Button
        size="sm"
        icon={Play}
        disabledReason={denied}
        onClick={() => void navigate(links.projects(teamSlug, 'run'))}
      >
        {t('steps.run')}
      </Button>
    </div>
  )
}

type RowProps = { state: 'done' | 'next' | 'later'; title: string; text?: string; action?: React.ReactNode }

function Row({ state, title, text, action }: RowProps) {
  const { t } = useTranslation('dashboard')
  const marks = {
    done: 'border-transparent tinted-running text-running',
    next: 'border-accent',
    later: 'border-line-strong',
  }
  return (
    <li className="flex min-h-[38px] items-center gap-3 border-b border-line px-3.5 py-1.5 last:border-0">
      <span className={cx('grid size-5 shrink-0 place-items-center rounded-full border', marks[state])}>
        {state === 'done' && <Check aria-label={t('steps.done')} className="size-3! stroke-3!" />}
      </span>
      <div className="min-w-0 flex-1">
        <span className={cx(state === 'done' ? 'text-ink-2' : 'font-strong')}>{title}</span>
        {text && state !== 'done' && <span className="ml-2 text-ink-2 max-md:ml-0 max-md:block">{text}</span>}
      </div>
      {action}
    </li>
  )
}

type StepActionProps = { step: Step; teamSlug: string; onboarding: Onboarding; isNext: boolean }

function StepAction({ step, teamSlug, onboarding, isNext }: StepActionProps) {
  const { t } = useTranslation('dashboard')
  const navigate = useNavigate()
  const { done } = onboarding[step]
  const denied = useStepDenied(step)
  const target = toTarget(step, teamSlug, onboarding)
  if (!target || (!done && !isNext)) return null
  return (
    <Button
      size="sm"
      variant={done ? 'bare' : 'main'}
      disabledReason={done ? null : denied}
      onClick={() => void navigate(target)}
    >
      {done ? t('steps.show') : t(`steps.go.${step}`)}
    </Button>
  )
}

function useStepDenied(step: Step): string | null {
  const denied = {
    createNode: useDenied('nodes.create'),
    createProject: useDenied('projects.create'),
    createVersion: useDenied('versions.create'),
    addImages: useDenied('version/add-images'),
    addDeployment: useDenied('deployments.create'),
    deploy: useDenied('deployments.start'),
  }
  return denied[step]
}

/** Where a step was done, or where it can be done; nothing while an earlier step is missing. */
function toTarget(step: Step, slug: string, onboarding: Onboarding) {
  const id = (name: keyof Onboarding) => onboarding[name].resourceId ?? undefined
  const [node, project, version, config, deployment] = [
    id('createNode'),
    id('createProject'),
    id('createVersion'),
    id('addImages'),
    id('addDeployment'),
  ]
  switch (step) {
    case 'createNode':
      return node ? links.node(slug, node) : links.nodes(slug, 'new')
    case 'createProject':
      return project ? links.project(slug, project) : links.projects(slug, 'new')
    case 'createVersion':
      if (version && project) return links.version(slug, project, version)
      return project ? { ...links.project(slug, project), hash: 'new' } : undefined
    case 'addImages':
      if (config) return links.containerConfiguration(slug, config)
      return version && project ? links.version(slug, project, version, 'images') : undefined
    case 'addDeployment':
      if (deployment) return links.deployment(slug, deployment)
      return version && project ? links.version(slug, project, version, 'deployments') : undefined
    case 'deploy':
      if (!deployment) return undefined
      return onboarding.deploy.done ? links.deploymentProgress(slug, deployment) : links.deployment(slug, deployment)
  }
}
