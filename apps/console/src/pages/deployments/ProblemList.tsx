import type { ResponseOf } from '@crux/contract'
import { CircleX, Shield, Snowflake } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { isBlocking, type Preview, withoutName } from './change-lines.ts'
import { type Problem, problemLink } from './field-link.ts'
import { toSentence } from './release-failure.ts'

type Props = {
  preview: Preview
  /** In display order. */
  problems: readonly Problem[]
  /** With it each problem links to the field where it is fixed. */
  target: { teamSlug: string; deployment: ResponseOf<'deployments.get'> } | undefined
  /** The instance whose page this is: its problems are listed without its name. */
  instanceId?: string
  className?: string
}

/** What prevents a start: the number of problems, then each one with its container and a link to its field. */
export function ProblemList({ preview, problems, target, instanceId, className }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const blocking = problems.filter(isBlocking)
  // The start asks about these; there is nothing to fix.
  const asked = problems.filter((problem) => !isBlocking(problem))
  const getName = (id: string | null | undefined) =>
    preview.instances.find((instance) => instance.instanceId === id)?.containerName
  const questions = asked.map(({ property, description }) => {
    const Icon = property === 'freezeWindow' ? Snowflake : Shield
    return (
      <p key={property} className={cx('flex items-start gap-2', className)}>
        <Icon aria-hidden className="mt-0.5 text-progress" />
        <span className="min-w-0 break-words">{description}</span>
      </p>
    )
  })
  if (blocking.length === 0) return questions
  return (
    <>
      <div className={cx('text-failed', className)}>
        <h3 className="flex items-center gap-2 font-strong">
          <CircleX aria-hidden />
          {t('detail.fixProblems', { count: blocking.length })}
        </h3>
        <ul aria-label={t('changes.problems')} className="mt-1.5 grid gap-2 pl-6">
          {blocking.map((problem) => {
            const name = getName(problem.instanceId)
            const link = target && problemLink(target.teamSlug, target.deployment, problem)
            const text = toSentence(withoutName(problem.description, name), [])
            return (
              <li key={`${problem.property} ${problem.description}`} className="min-w-0 break-words">
                {name && problem.instanceId !== instanceId && (
                  <>
                    <b className="mono font-semibold">{name}</b>:{' '}
                  </>
                )}
                {/[.?!]$/.test(text) ? text : `${text}.`}{' '}
                {link && (
                  <TextLink {...link} inline className="whitespace-nowrap">
                    {t('changes.mend')}
                  </TextLink>
                )}
              </li>
            )
          })}
        </ul>
      </div>
      {questions}
    </>
  )
}
