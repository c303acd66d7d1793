import type { ComposeProblem, SourcePosition } from '@crux/compose'
import { CircleX, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { countErrors } from '../../composer/compose-result.ts'
import { Position } from './Position.tsx'

/** The rest is shown on request. */
const shownProblems = 8

type Props = { problems: readonly ComposeProblem[]; onJump: (position: SourcePosition) => void }

/** Every error and warning of the files; each leads to its line. */
export function ComposeProblems({ problems, onJump }: Props) {
  const { t } = useTranslation(['composer', 'common'])
  const [isOpen, setOpen] = useState(false)
  if (problems.length === 0) return null
  const errors = countErrors(problems)
  const title =
    errors > 0 ? t('problems.errors', { count: errors }) : t('problems.warnings', { count: problems.length })
  return (
    <Box
      label={t('problems.label')}
      title={<span className={errors > 0 ? 'text-failed' : undefined}>{title}</span>}
      trailing={errors > 0 && errors < problems.length && t('problems.warnings', { count: problems.length - errors })}
    >
      <ProblemLines problems={isOpen ? problems : problems.slice(0, shownProblems)} onJump={onJump} />
      {problems.length > shownProblems && (
        <div className="px-3 pb-2.5">
          <Button size="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? t('common:showLess') : t('problems.showAll', { count: problems.length })}
          </Button>
        </div>
      )}
    </Box>
  )
}

export function ProblemLines({ problems, onJump }: Props) {
  const { t } = useTranslation('composer')
  return (
    <ul className="grid gap-1.5 px-3 py-2.5">
      {problems.map((problem) => (
        <li
          key={`${problem.file} ${problem.line} ${problem.column} ${problem.message}`}
          className="flex items-start gap-2"
        >
          {problem.level === 'error' ? (
            <CircleX role="img" aria-label={t('problems.error')} className="mt-0.5 shrink-0 text-failed" />
          ) : (
            <TriangleAlert role="img" aria-label={t('problems.warning')} className="mt-0.5 shrink-0 text-progress" />
          )}
          <span className="min-w-0 wrap-anywhere">
            <Position position={problem} onJump={onJump} /> {problem.message}
          </span>
        </li>
      ))}
    </ul>
  )
}
