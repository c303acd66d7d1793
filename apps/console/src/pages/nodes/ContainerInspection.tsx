import { ChevronRight, RotateCw } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { CodeBlock } from '../../components/CodeBlock.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { filterRows } from '../../table/filter-rows.ts'
import { NoMatches } from '../../table/NoMatches.tsx'
import { readInspection } from './inspection.ts'
import type { Fact, GeneralFact } from './inspection-facts.ts'

const ClusterYaml = lazyComponent(async () => (await import('./ClusterYaml.tsx')).ClusterYaml)

type Props = { json: string; isReading: boolean; onRefresh: () => void }
type Row = Fact & { at?: string; code?: boolean }
type Part = { id: 'general' | 'environment' | 'networks' | 'mounts' | 'labels' | 'rest'; rows: Row[] }

/** The engine's inspection of a container, as searchable tables, or as JSON or YAML. Values of secrets are replaced by the agent. */
export function ContainerInspection({ json, isReading, onRefresh }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const [view, setView] = useState<'table' | 'text'>('table')
  const [text, setText] = useState('')
  const { isOfCluster, parts } = useParts(json)
  const pretty = useMemo(() => indent(json), [json])
  const isTable = view === 'table' && parts !== null
  const found = parts?.map((part) => ({
    ...part,
    rows: filterRows(part.rows, text, ({ name, value }) => [name, value]),
  }))
  const shown = found?.filter(({ rows }) => text === '' || rows.length > 0) ?? []
  return (
    <Box
      title={t('inspect.title')}
      label={t('inspect.title')}
      actions={
        <div className="flex flex-wrap items-center gap-2 max-md:w-full">
          {isTable && (
            <SearchBox value={text} onChange={setText} label={t('inspect.search')} className="w-64 max-md:w-full" />
          )}
          {parts && (
            <Chips
              label={t('inspect.view')}
              value={view}
              onChange={setView}
              options={[
                { value: 'table', label: t('inspect.table') },
                { value: 'text', label: t(isOfCluster ? 'inspect.yaml' : 'inspect.json') },
              ]}
            />
          )}
          <Button icon={RotateCw} busy={isReading} onClick={onRefresh}>
            {t('inspect.refresh')}
          </Button>
          <CopyButton text={pretty} label={t('inspect.copyAll')} />
        </div>
      }
    >
      {!isTable && isOfCluster ? (
        <ClusterYaml json={json} />
      ) : !isTable ? (
        <CodeBlock text={pretty} label={t('inspect.json')} className="max-h-[75dvh] rounded-b-box" />
      ) : shown.length === 0 ? (
        <NoMatches total={parts.reduce((count, { rows }) => count + rows.length, 0)} onReset={() => setText('')} />
      ) : (
        shown.map(({ id, rows }) => (
          <Section key={id} title={t(`inspect.${id}`)} count={rows.length} closed={id === 'rest' && text === ''}>
            {rows.length === 0 ? (
              <p className="px-3 py-1.5 text-ink-3">{t('common:none')}</p>
            ) : (
              <dl>
                {rows.map((row, index) => (
                  <Line key={`${row.name} ${index}`} row={row} />
                ))}
              </dl>
            )}
          </Section>
        ))
      )}
    </Box>
  )
}

function useParts(json: string): { isOfCluster: boolean; parts: Part[] | null } {
  const { t } = useTranslation(['nodes', 'common'])
  return useMemo(() => {
    const read = readInspection(json)
    if (!read) return { isOfCluster: false, parts: null }
    const code = (rows: Fact[]): Row[] => rows.map((row) => ({ ...row, code: true }))
    const general = read.general.map(
      ({ name, value }): Row => ({
        name: t(`inspect.fact.${name}`),
        value,
        at: times.includes(name) ? value : undefined,
      }),
    )
    const parts: Part[] = [
      { id: 'general', rows: general },
      { id: 'environment', rows: code(read.environment) },
      { id: 'networks', rows: code(read.networks) },
      { id: 'mounts', rows: code(read.mounts) },
      { id: 'labels', rows: code(read.labels) },
      { id: 'rest', rows: code(read.rest) },
    ]
    return { isOfCluster: read.isOfCluster, parts }
  }, [json, t])
}

const times: readonly GeneralFact[] = ['createdAt', 'startedAt', 'finishedAt']

type SectionProps = { title: string; count: number; closed: boolean; children: ReactNode }

/** `closed` ones show their rows after a press: there are a hundred of them. */
function Section({ title, count, closed, children }: SectionProps) {
  const [open, setOpen] = useState(false)
  const isOpen = open || !closed
  const heading = (
    <>
      {title} <span className="font-normal text-ink-3 tabular-nums">{count}</span>
    </>
  )
  return (
    <section className="border-t border-line first-of-type:border-0">
      <h3 className="flex min-h-8 items-center gap-1.5 bg-sunken px-3 text-small font-medium text-ink-2">
        {closed ? (
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!open)}
            className="-ml-1 flex items-center gap-1.5 rounded-sm px-1 hover:text-ink"
          >
            <ChevronRight aria-hidden className={isOpen ? 'size-3.5! rotate-90' : 'size-3.5!'} />
            {heading}
          </button>
        ) : (
          heading
        )}
      </h3>
      {isOpen && children}
    </section>
  )
}

function Line({ row }: { row: Row }) {
  const { t } = useTranslation(['nodes', 'common'])
  return (
    <div className="group grid items-start gap-x-4 border-t border-line px-3 py-1 hover:bg-hover wide:grid-cols-[minmax(180px,26%)_minmax(0,1fr)]">
      <dt className={row.code ? 'mono py-0.5 break-all text-ink-2' : 'py-0.5 text-ink-2'}>{row.name}</dt>
      <dd className="flex min-w-0 items-start gap-2">
        {row.at ? (
          <span className="py-0.5">
            <TimeAgo at={row.at} />
          </span>
        ) : (
          <span className="mono min-w-0 py-0.5 break-all">{row.value}</span>
        )}
        <span className="-my-px shrink-0 opacity-0 transition-opacity group-hover:opacity-100 focus-within:opacity-100 [@media(hover:none)]:opacity-100">
          <CopyButton text={row.value} label={t('inspect.copy', { name: row.name })} />
        </span>
      </dd>
    </div>
  )
}

function indent(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
