import { useTranslation } from 'react-i18next'
import { Chips } from '../../components/Chips.tsx'
import { Select } from '../../components/Field.tsx'
import { LogViewer } from '../../components/log-viewer/LogViewer.tsx'
import { useTight } from '../../components/use-media.ts'
import type { RowSubject } from './ProgressRow.tsx'
import { isUnderWay, type Progress } from './progress.ts'
import { type LogSource, useReleaseLog } from './use-release-log.ts'

/** Longer names are cut: the message is what is read. */
const sourceWidthMax = 24

type Props = {
  source: LogSource
  onSource: (source: LogSource) => void
  progress: Progress
  /** Days after which the log was removed; 0 if the server no longer sends it. */
  removedAfterDays: number | undefined
  subjects: readonly RowSubject[]
  getName: (instanceId: string) => string
  fileName: string
}

/** The release's log beside its images: all lines or those of one source. */
export function ReleaseLog({ source, onSource, progress, removedAfterDays, subjects, getName, fileName }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { buffer } = useReleaseLog(progress, source, getName)
  const wrapsAtFirst = useTight()
  const options = [
    { value: 'all', label: t('common:all') },
    ...subjects.map((subject) => ({ value: subject.instanceId, label: subject.name })),
    { value: 'agent', label: t('progress.agentWord') },
  ]
  const emptyText = () => {
    if (removedAfterDays !== undefined) return t('progress.logRemoved', { count: removedAfterDays })
    return progress.try === 0 ? t('progress.never') : t('progress.quiet')
  }
  return (
    <LogViewer
      buffer={buffer}
      title={t('progress.log')}
      fileName={fileName}
      sourceWidth={Math.min(sourceWidthMax, Math.max(...options.slice(1).map(({ label }) => label.length)))}
      wrapsAtFirst={wrapsAtFirst}
      live={isUnderWay(progress)}
      className="h-[26rem] min-[1100px]:h-auto min-[1100px]:max-h-[calc(100dvh-80px)] min-[1100px]:min-h-[22rem]"
      empty={emptyText()}
      actions={
        options.length <= 2 ? null : options.length <= 4 ? (
          <Chips label={t('progress.source')} value={source} onChange={onSource} options={options} />
        ) : (
          <Select
            aria-label={t('progress.source')}
            value={source}
            onChange={(event) => onSource(event.target.value)}
            className="w-auto! max-w-44"
            options={options}
          />
        )
      }
    />
  )
}
