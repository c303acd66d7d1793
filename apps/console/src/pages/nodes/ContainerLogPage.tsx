import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { Info, ScrollText } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useChannel, useLinkStatus } from '../../api/live.ts'
import { ButtonLink } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { LogViewer } from '../../components/log-viewer/LogViewer.tsx'
import { createLogBuffer } from '../../components/log-viewer/log-buffer.ts'
import { NotFound } from '../../components/NotFound.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { useNarrow } from '../../components/use-media.ts'
import { links } from '../../routing/links.ts'

const takes = ['50', '500', '1000', '10000', '100000'] as const
type Take = (typeof takes)[number]

const wholeLog = (
  teamSlug: string,
  nodeId: string,
  { prefix, name, pod }: { prefix: string; name: string; pod?: string },
) =>
  `/api/${teamSlug}/nodes/${nodeId}/${prefix || '_'}/containers/${encodeURIComponent(name)}/log/download${pod ? `?pod=${encodeURIComponent(pod)}` : ''}`

export function ContainerLogPage() {
  const { prefix, name, pod } = useSearch({ from: '/app/$teamSlug/nodes/$nodeId/log' })
  // Another log gets a new page without the lines of the previous one.
  return <LogPage key={`${prefix}/${name}/${pod}`} />
}

/** The log of one container, or of one pod, from its last lines on. A container that stops does not end it: lines go on when it starts again. */
function LogPage() {
  const { t } = useTranslation(['nodes', 'common'])
  const { teamSlug, nodeId } = useParams({ from: '/app/$teamSlug/nodes/$nodeId/log' })
  const { prefix, name, pod } = useSearch({ from: '/app/$teamSlug/nodes/$nodeId/log' })
  const node = useQuery(apiQuery('nodes.get', { params: { teamSlug, nodeId } }))
  const link = useLinkStatus()
  const [buffer] = useState(() => createLogBuffer())
  const [take, setTake] = useState<Take>('50')
  const [quiet, setQuiet] = useState(false)
  // All counts fit into one row of a phone as 10K and 100K.
  const notation = useNarrow() ? 'compact' : 'standard'
  // The first lines follow the start in a moment; only after it, none means none.
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const container = { prefix, name }
  const mine = (other: { prefix: string; name: string } | undefined) =>
    !other || (other.prefix === prefix && other.name === name)

  const send = useChannel(
    'node',
    { teamSlug, nodeId },
    {
      ready: (channel) => channel.send('watch-container-log', { container, pod, take: Number(take), batch: true }),
      // Sent at the start, after a reconnect, and when a user changes the count: the lines that follow start with the last ones again.
      'container-log-started': (message) => {
        if (!mine(message.container)) return
        buffer.clear()
        clearTimeout(timer.current)
        timer.current = setTimeout(() => setQuiet(true), 1_500)
        const announced = takes.find((value) => Number(value) === message.take)
        if (announced) setTake(announced)
      },
      'container-log-batch': (message) => {
        if (!mine(message.container)) return
        if (message.skipped) buffer.addGap(message.skipped)
        buffer.append(
          message.lines.map(([at, stream, text]) => ({ at, text, source: stream === 1 ? 'stderr' : 'stdout' })),
        )
      },
      'container-log': (message) => {
        if (mine(message.container)) buffer.append([{ at: 0, text: message.log }])
      },
    },
  )
  if (!name) return <NotFound />
  const full = prefix ? `${prefix}-${name}` : name
  const title = pod ?? full
  const changeTake = (next: Take) => {
    setTake(next)
    buffer.clear()
    send('set-container-log-take', { container, take: Number(next) })
  }

  return (
    <div className="flex h-[calc(100dvh-48px-60px)] min-h-96 flex-col">
      <PageHeader
        title={t('log.title', { name: title })}
        fullTitle={t('log.crumb', { name: title })}
        crumbs={[
          { label: t('list.title'), link: links.nodes(teamSlug) },
          { label: node.data?.name ?? t('log.node'), link: links.node(teamSlug, nodeId) },
        ]}
        subtitle={
          pod
            ? t('log.subPod', { name: full, node: node.data?.name ?? '' })
            : t('log.sub', { node: node.data?.name ?? '' })
        }
        actions={
          <>
            {pod && (
              <ButtonLink {...links.containerLog(teamSlug, nodeId, container)} icon={ScrollText}>
                {t('log.allPods')}
              </ButtonLink>
            )}
            <ButtonLink {...links.containerInspect(teamSlug, nodeId, container)} icon={Info}>
              {t('containers.inspect')}
            </ButtonLink>
          </>
        }
      />
      <LogViewer
        buffer={buffer}
        title={t('log.box')}
        fileName={title}
        whole={node.data?.status === 'connected' ? wholeLog(teamSlug, nodeId, { ...container, pod }) : undefined}
        className="min-h-0 flex-1"
        empty={
          node.data?.status === 'unreachable'
            ? t('log.away')
            : link !== 'open'
              ? t('log.offline')
              : quiet
                ? t('log.nothing')
                : t('log.starting')
        }
        actions={
          <span className="flex items-center gap-2">
            <span aria-hidden className="text-small whitespace-nowrap text-ink-3">
              {t('log.takeShort')}
            </span>
            <Chips
              label={t('log.take')}
              value={take}
              onChange={changeTake}
              options={takes.map((value) => ({ value, label: Number(value).toLocaleString('en', { notation }) }))}
            />
          </span>
        }
      />
    </div>
  )
}
