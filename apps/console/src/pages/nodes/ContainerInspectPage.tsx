import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { RotateCw, ScrollText } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { CodeBlock } from '../../components/CodeBlock.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { NotFound } from '../../components/NotFound.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { links } from '../../links.ts'
import { type Fact, readInspection } from './inspection.ts'

/** What the engine says of a container, in tables or as it is. Values of secrets are replaced by the agent. */
export function ContainerInspectPage() {
  const { t } = useTranslation(['nodes', 'common'])
  const { teamSlug, nodeId } = useParams({ from: '/app/$teamSlug/nodes/$nodeId/inspect' })
  const { prefix, name } = useSearch({ from: '/app/$teamSlug/nodes/$nodeId/inspect' })
  const [view, setView] = useState<'table' | 'json'>('table')
  const node = useQuery(apiQuery('nodes.get', { params: { teamSlug, nodeId } }))
  const query = useQuery({
    ...apiQuery('containers.inspect', { params: { teamSlug, nodeId, prefix: prefix || '_', name: name || '-' } }),
    enabled: name !== '',
  })
  if (!name) return <NotFound />
  const title = prefix ? `${prefix}-${name}` : name
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { label: t('list.title'), link: links.nodes(teamSlug) },
          { label: node.data?.name ?? t('log.node'), link: links.node(teamSlug, nodeId) },
        ]}
        sub={t('inspect.sub', { node: node.data?.name ?? '' })}
        tools={
          <>
            <Chips
              label={t('inspect.view')}
              value={view}
              onChange={setView}
              options={[
                { value: 'table', label: t('inspect.table') },
                { value: 'json', label: t('inspect.json') },
              ]}
            />
            <Button icon={RotateCw} busy={query.isFetching} onClick={() => void query.refetch()}>
              {t('inspect.again')}
            </Button>
            <ButtonLink {...links.containerLog(teamSlug, nodeId, { prefix, name })} icon={ScrollText}>
              {t('containers.log')}
            </ButtonLink>
          </>
        }
      />
      <QueryView query={query} skeleton={<SkeletonRows rows={10} />}>
        {({ inspection }) => <InspectionView json={inspection} view={view} />}
      </QueryView>
    </>
  )
}

function InspectionView({ json, view }: { json: string; view: 'table' | 'json' }) {
  const { t } = useTranslation(['nodes', 'common'])
  const read = useMemo(() => readInspection(json), [json])
  const pretty = useMemo(() => indent(json), [json])
  if (view === 'json' || !read)
    return (
      <Box title={t('inspect.json')} tools={<CopyButton text={pretty} />}>
        <CodeBlock text={pretty} label={t('inspect.json')} className="max-h-[75dvh] rounded-b-box" />
      </Box>
    )
  return (
    <div className="grid items-start gap-4 min-[1100px]:grid-cols-2">
      <Facts
        title={t('inspect.general')}
        facts={read.general.map((fact) => ({ ...fact, name: t(`inspect.fact.${fact.name}`) }))}
      />
      <Facts title={t('inspect.networks')} facts={read.networks} />
      <Facts title={t('inspect.environment')} facts={read.environment} mono />
      <Facts title={t('inspect.mounts')} facts={read.mounts} mono />
      <Facts title={t('inspect.labels')} facts={read.labels} mono />
    </div>
  )
}

function Facts({ title, facts, mono }: { title: string; facts: readonly Fact[]; mono?: boolean }) {
  const { t } = useTranslation(['nodes', 'common'])
  return (
    <Box title={title} aside={facts.length > 0 ? facts.length : undefined}>
      {facts.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-3">{t('common:none')}</p>
      ) : (
        <dl className="divide-y divide-line">
          {facts.map((fact) => (
            <div key={fact.name} className="grid gap-x-3 px-3 py-1.5 sm:grid-cols-[minmax(120px,34%)_minmax(0,1fr)]">
              <dt className={mono ? 'mono break-all text-ink-2' : 'text-ink-2'}>{fact.name}</dt>
              <dd className="mono break-all">{fact.value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Box>
  )
}

function indent(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
