import { ApiError } from '@crux/client'
import { Boxes } from 'lucide-react'
import { AnimalIcon } from '../components/AnimalIcon.tsx'
import { Avatar } from '../components/Avatar.tsx'
import { Box, DescriptionList } from '../components/Box.tsx'
import { Button } from '../components/Button.tsx'
import { CodeBlock } from '../components/CodeBlock.tsx'
import { Copyable } from '../components/Copyable.tsx'
import { DayBars } from '../components/DayBars.tsx'
import { DetailsHead } from '../components/DetailsHead.tsx'
import { EmptyState } from '../components/EmptyState.tsx'
import { ErrorState } from '../components/ErrorState.tsx'
import { FactorNeeded } from '../components/FactorNeeded.tsx'
import { FailedPage } from '../components/FailedPage.tsx'
import { FoldedText } from '../components/FoldedText.tsx'
import { JsonEditor } from '../components/JsonEditor.tsx'
import { Kbd } from '../components/Kbd.tsx'
import { LogViewer } from '../components/log-viewer/LogViewer.tsx'
import { createLogBuffer } from '../components/log-viewer/log-buffer.ts'
import { MiddleEllipsis } from '../components/MiddleEllipsis.tsx'
import { NotFound } from '../components/NotFound.tsx'
import { ProgressBar } from '../components/ProgressBar.tsx'
import { RegistryProblem } from '../components/RegistryProblem.tsx'
import { RelativeTime } from '../components/RelativeTime.tsx'
import { SkeletonRows } from '../components/Skeletons.tsx'
import { State, StateMark } from '../components/State.tsx'
import { type StatusStyle, statusStyles } from '../components/status-styles.ts'
import { Pill, Tag } from '../components/Tag.tsx'
import { TimeAgo } from '../components/TimeAgo.tsx'
import { Tooltip } from '../components/Tooltip.tsx'
import { VersionName } from '../components/VersionName.tsx'
import { DataTable } from '../table/DataTable.tsx'
import { FilteredList } from '../table/FilteredList.tsx'
import { NoMatches } from '../table/NoMatches.tsx'
import { Pagination } from '../table/Pagination.tsx'
import { ViewModeSwitch } from '../table/ViewModeSwitch.tsx'
import { Controlled, Example, ignore } from './Example.tsx'

type Row = { id: string; name: string; status: 'connected' | 'unreachable' }
const rows: Row[] = [
  { id: '1', name: 'alpha', status: 'connected' },
  { id: '2', name: 'beta', status: 'unreachable' },
]
const at = '2026-01-15T12:00:00Z'
const days = [4, 0, 7, 2].map((good, index) => ({ day: `2026-01-1${index}`, good, bad: index % 3 }))
const error = new Error('not an answer of the API')
const rateLimit = new ApiError({
  status: 429,
  error: 'registryRateLimit',
  value: 'registry.example.com',
  description: 'registry.example.com answers that there were too many requests.',
  retryAfterS: 600,
})
const log = createLogBuffer()
log.append([
  { at: Date.parse(at), text: 'listening on port 8080', source: 'web' },
  { at: Date.parse(at), text: 'WARN slow query', source: 'web' },
  { at: Date.parse(at), text: 'ERROR connection refused', source: 'db' },
])
log.addGap(12)

const Table = ({ found }: { found: readonly Row[] }) => (
  <DataTable
    label="Nodes"
    rows={found}
    rowKey={(row) => row.id}
    tint={(row) => (row.status === 'unreachable' ? 'failed' : undefined)}
    actions={() => [{ id: 'open', label: 'Open', icon: Boxes, inline: true, run: ignore }]}
    columns={[
      { id: 'status', header: 'Status', cell: (row) => <State kind="node" value={row.status} />, narrow: 'lead' },
      { id: 'name', header: 'Name', cell: (row) => row.name, sort: (row) => row.name, narrow: 'title' },
    ]}
    footer={<Pagination skip={20} take={10} total={64} onChange={ignore} />}
  />
)

/** What shows data, its states and its absence. */
export function Views() {
  return (
    <>
      <Example name="State">
        {Object.entries(statusStyles).map(([kind, styles]) => (
          <Box key={kind} title={kind}>
            <div className="grid gap-1 p-3">
              {Object.entries<StatusStyle>(styles).map(([value, appearance]) => (
                <StateMark key={value} appearance={appearance} label={value} />
              ))}
            </div>
          </Box>
        ))}
      </Example>
      <Example name="Text">
        <Avatar name="Ada Lovelace" />
        <Avatar name="Ada Lovelace" size="sm" color="teal" />
        <AnimalIcon name="cat" />
        <Tag>1.4.2</Tag>
        {(['plain', 'accent', 'past', 'failed'] as const).map((tone) => (
          <Pill key={tone} tone={tone}>
            {tone}
          </Pill>
        ))}
        <Kbd>K</Kbd>
        <VersionName project={{ type: 'versioned' }} name="1.4.2" />
        <RelativeTime at={at} />
        <RelativeTime at={null} />
        <TimeAgo at={at} />
        <Tooltip content="A tooltip">
          <button type="button">with a tooltip</button>
        </Tooltip>
        <span className="w-40">
          <MiddleEllipsis text="registry.example.com/team/a-long-image-name:1.4.2" />
        </span>
        <FoldedText text={'A text of several lines.\n'.repeat(6)} lines={3} />
      </Example>
      <Example name="DayBars">
        <DayBars label="Days" bars={days} describe={({ day, good, bad }) => `${day}: ${good} and ${bad}`} />
        <DayBars label="Days" bars={days} describe={({ day }) => day} onPick={ignore} tone="running" />
      </Example>
      <Example name="ProgressBar">
        {(['progress', 'running', 'failed', 'accent'] as const).map((tone, index) => (
          <ProgressBar key={tone} label={tone} tone={tone} value={(index + 1) / 4} className="w-40" />
        ))}
      </Example>
      <Example name="Box, CodeBlock, Copyable, JsonEditor">
        <Box title="Title" trailing="beside it" actions={<Button size="sm">Action</Button>}>
          <DescriptionList items={[{ label: 'Address', value: '10.0.0.4' }]} />
          <CodeBlock label="Command" text="docker ps" />
          <Copyable label="Token" text="crux_example" />
        </Box>
        {[false, true].map((readOnly) => (
          <Controlled key={String(readOnly)} initial={'{ "name": "web" }'}>
            {(value, set) => (
              <div className="w-full max-w-96 min-w-0">
                <JsonEditor
                  label={readOnly ? 'Read-only' : 'JSON'}
                  value={value}
                  onChange={set}
                  readOnly={readOnly}
                  schema={{}}
                  lint={() => null}
                  onFocus={ignore}
                  onBlur={ignore}
                />
              </div>
            )}
          </Controlled>
        ))}
      </Example>
      <Example name="DataTable, FilteredList, Pagination">
        <div className="w-full min-w-0">
          <FilteredList rows={rows} search="Search" searchText={(row) => [row.name]}>
            {(found) => <Table found={found} />}
          </FilteredList>
        </div>
        <Controlled<'tile' | 'list'> initial="list">
          {(value, set) => <ViewModeSwitch value={value} onChange={set} />}
        </Controlled>
      </Example>
      <Example name="LogViewer">
        <LogViewer
          buffer={log}
          title="Log"
          fileName="log"
          sourceWidth={4}
          empty="No lines yet"
          className="h-60 w-full"
        />
        <LogViewer
          buffer={createLogBuffer()}
          title="Empty"
          fileName="log"
          empty="No lines yet"
          className="h-40 w-full"
        />
      </Example>
      <Example name="Skeletons, empty, errors">
        <div className="grid w-full gap-3">
          <SkeletonRows rows={2} filters />
          <EmptyState
            icon={Boxes}
            title="No projects yet"
            text="A project holds versions."
            action={<Button>Create</Button>}
          />
          <NoMatches total={12} onReset={ignore} />
          <ErrorState error={error} retry={ignore} />
          <RegistryProblem error={rateLimit} retry={ignore} />
          <FactorNeeded />
        </div>
      </Example>
      <Example name="Pages">
        <div className="grid w-full gap-3">
          <DetailsHead
            of={{ name: 'acme', description: 'A registry', icon: 'cat' }}
            list={{ label: 'Registries', link: { to: '/404' } }}
            edit={{ denied: null, show: ignore }}
            removal={{ ask: async () => {}, busy: false, denied: null }}
            inUse="An image is used by a version"
          />
          <NotFound />
          <FailedPage error={error} retry={ignore} busy={false} />
        </div>
      </Example>
    </>
  )
}
