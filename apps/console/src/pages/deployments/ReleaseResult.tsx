import { CircleCheck, CircleX, RotateCw, Server, SquareTerminal, Undo2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { cx } from '../../components/class-names.ts'
import { links } from '../../links.ts'
import type { Progress } from './progress.ts'

type Props = {
  teamSlug: string
  nodeId: string
  nodeName: string
  prefix: string
  progress: Progress
  /** Shows what the failed container said last; null where it said nothing. */
  showWords: (() => void) | null
  text: string
  again: { run: () => void; reason: string | null; busy: boolean }
  rollBack: { number: number; run: () => void; reason: string | null } | null
}

/** How it ended, in words, with what to do next. */
export function ReleaseResult({
  teamSlug,
  nodeId,
  nodeName,
  prefix,
  progress,
  showWords,
  text,
  again,
  rollBack,
}: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const failed = progress.status === 'failed'
  const Icon = failed ? CircleX : CircleCheck
  return (
    <section
      role="status"
      aria-label={t('result.label')}
      className={cx(
        'mb-4 flex flex-wrap items-center gap-3 rounded-box border px-3.5 py-3',
        failed ? 'border-failed/40 tinted-failed' : 'border-running/40 tinted-running',
      )}
    >
      <Icon aria-hidden className={cx('size-5!', failed ? 'text-failed' : 'text-running')} />
      <p className="min-w-0 flex-1 basis-64 font-strong">{text}</p>
      <div className="flex flex-wrap gap-2">
        {failed && showWords && (
          <Button icon={SquareTerminal} onClick={showWords}>
            {t('result.lastWords')}
          </Button>
        )}
        <ButtonLink {...links.node(teamSlug, nodeId, { prefix })} icon={Server}>
          {t('result.node', { node: nodeName })}
        </ButtonLink>
        {rollBack && (
          <Button icon={Undo2} disabledReason={rollBack.reason} onClick={rollBack.run}>
            {t('result.rollBack', { number: rollBack.number })}
          </Button>
        )}
        {(failed || again.reason === null) && (
          <Button
            variant={failed ? 'main' : 'plain'}
            icon={RotateCw}
            busy={again.busy}
            disabledReason={again.reason}
            onClick={again.run}
          >
            {t('action.again')}
          </Button>
        )}
      </div>
    </section>
  )
}
