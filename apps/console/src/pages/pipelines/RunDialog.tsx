import { useTranslation } from 'react-i18next'
import { Dialog } from '../../components/Dialog.tsx'
import { absoluteTime } from '../../components/relative-time.ts'
import { State } from '../../components/State.tsx'
import { PipelineInputList } from '../../forms/pipeline-input-list.tsx'
import { RunDuration } from './RunDuration.tsx'
import { RunStarter } from './RunStarter.tsx'
import type { Run } from './run-queries.ts'
import { ServiceLink } from './ServiceLink.tsx'

/** One run in full, with the inputs that it was started with. */
export function RunDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation('pipelines')
  const title = run.externalId ? t('runs.number', { number: run.externalId }) : t('runs.one')
  const details = [
    { label: t('column.status'), value: <State kind="pipeline" value={run.status} /> },
    { label: t('column.startedBy'), value: <RunStarter run={run} /> },
    { label: t('column.created'), value: absoluteTime(Date.parse(run.startedAt)) },
    ...(run.finishedAt ? [{ label: t('column.finished'), value: absoluteTime(Date.parse(run.finishedAt)) }] : []),
    { label: t('column.duration'), value: <RunDuration run={run} /> },
    ...(run.url ? [{ label: t('column.run'), value: <ServiceLink url={run.url}>{t('runs.open')}</ServiceLink> }] : []),
  ]
  return (
    <Dialog open onClose={onClose} title={title} width="wide:w-[560px]">
      {run.reason && <p className="mb-3 wrap-anywhere">{run.reason}</p>}
      <dl className="mb-4 grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1">
        {details.map(({ label, value }) => (
          <div key={label} className="contents">
            <dt className="text-ink-2">{label}</dt>
            <dd className="min-w-0 wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      <h3 className="mb-1.5 font-strong">{t('inputs.title')}</h3>
      {run.inputs && run.inputs.length > 0 ? (
        <div className="rounded-box border border-line">
          <PipelineInputList label={t('inputs.title')} inputs={run.inputs} />
        </div>
      ) : (
        <p className="text-ink-2">{t('inputs.none')}</p>
      )}
    </Dialog>
  )
}
