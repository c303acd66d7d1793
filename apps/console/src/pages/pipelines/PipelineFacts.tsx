import { useTranslation } from 'react-i18next'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { StateMark } from '../../components/State.tsx'
import { type StatusStyle, statusStyle } from '../../components/status-styles.ts'
import { Pill } from '../../components/Tag.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import type { PipelineDetails } from './run-queries.ts'
import { ServiceLink } from './ServiceLink.tsx'

/** Where the pipeline is, and how Crux hears of its runs. */
export function PipelineFacts({ pipeline }: { pipeline: PipelineDetails }) {
  const { t } = useTranslation('pipelines')
  const { type, repository, trigger, url, hook } = pipeline
  return (
    <Box label={t('facts.title')}>
      <DescriptionList
        items={[
          { label: t('column.type'), value: <Pill>{t(`type.${type}`)}</Pill> },
          {
            label: t('column.repository'),
            isLong: true,
            value: (
              <ServiceLink url={url}>
                <code>
                  {repository.organization}/{repository.project}
                </code>
              </ServiceLink>
            ),
          },
          {
            label: t('facts.branch'),
            value: repository.branch ? (
              <code>{repository.branch}</code>
            ) : (
              <span className="text-ink-2">{t('facts.defaultBranch')}</span>
            ),
          },
          ...(trigger.name ? [{ label: t(`form.${type}.trigger`), value: trigger.name }] : []),
          ...(hook ? [{ label: t('hook.title'), value: <HookState hook={hook} /> }] : []),
        ]}
      />
      {hook && <HookNote hook={hook} service={t(`type.${type}`)} />}
    </Box>
  )
}

type Hook = NonNullable<PipelineDetails['hook']>

const hookStyles: Record<Hook['state'], StatusStyle> = {
  active: statusStyle('phase', 'done'),
  failed: statusStyle('phase', 'failed'),
  none: statusStyle('phase', 'waiting'),
}

const HookState = ({ hook: { state } }: { hook: Hook }) => {
  const { t } = useTranslation('pipelines')
  return <StateMark appearance={hookStyles[state]} label={t(`hook.${state}`)} />
}

/** What the state of the hook means for the runs. */
function HookNote({ hook: { state, problem, lastDeliveryAt }, service }: { hook: Hook; service: string }) {
  const { t } = useTranslation('pipelines')
  return (
    <p className="border-t border-line px-3.5 py-2.5 wrap-anywhere text-ink-2">
      {state === 'failed' && problem && <span className="text-ink">{problem} </span>}
      {t(`hook.${state}Text`, { service })}{' '}
      {state === 'active' &&
        (lastDeliveryAt ? (
          <>
            {t('hook.lastDelivery')} <TimeAgo at={lastDeliveryAt} />.
          </>
        ) : (
          t('hook.noDelivery')
        ))}
    </p>
  )
}
