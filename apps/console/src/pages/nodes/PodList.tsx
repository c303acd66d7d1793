import type { Container, Pod } from '@crux/contract'
import type { LinkProps } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { MiddleEllipsis } from '../../components/MiddleEllipsis.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { StateMark } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import { containerName } from './containers.ts'
import { podAppearance } from './pods.ts'

export type PodListProps = { teamSlug: string; nodeId: string; container: Container; className?: string }

/** The pods of a workload of a cluster, one per line, each with its log. */
export function PodList({ teamSlug, nodeId, container, className }: PodListProps) {
  const { t } = useTranslation('nodes')
  const { managed, pods } = container
  if (!pods) return null
  if (pods.total === 0) return <p className={cx('py-2 text-ink-2', className)}>{t('pods.none')}</p>
  const hidden = pods.total - pods.items.length
  return (
    <ul aria-label={t('pods.of', { name: containerName(container) })} className={cx('grid min-w-0', className)}>
      {pods.items.map((pod) => (
        <PodLine key={pod.name} pod={pod} log={managed && links.containerLog(teamSlug, nodeId, managed, pod.name)} />
      ))}
      {hidden > 0 && <li className="py-1.5 text-ink-2">{t('pods.more', { count: hidden })}</li>}
    </ul>
  )
}

function PodLine({ pod, log }: { pod: Pod; log: LinkProps | null | undefined }) {
  const { t } = useTranslation('nodes')
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-0.5 border-t border-line py-1.5 first:border-0">
      <span className="basis-40 max-md:basis-auto">
        <StateMark appearance={podAppearance(pod)} label={pod.reason} />
      </span>
      <code className="min-w-0 flex-1 basis-56">
        {log ? (
          <TextLink {...log} aria-label={t('pods.log', { pod: pod.name })}>
            <MiddleEllipsis text={pod.name} />
          </TextLink>
        ) : (
          <MiddleEllipsis text={pod.name} />
        )}
      </code>
      <span className="text-ink-2">
        {[
          pod.state === 'running' && !pod.ready && t('pods.notReady'),
          pod.exitCode != null && t('pods.exitCode', { code: pod.exitCode }),
          pod.restartCount > 0 && t('containers.restarts', { count: pod.restartCount }),
        ]
          .filter(Boolean)
          .join(', ')}
      </span>
      <span className="text-ink-2">
        {pod.machine === '' ? t('pods.noMachine') : t('pods.on', { machine: pod.machine })}
      </span>
      <RelativeTime at={pod.createdAt} className="ml-auto text-ink-2 tabular-nums" />
    </li>
  )
}
