import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Handlers, Input } from '../http/index.ts'
import { countDays, listEntries, type RangeQuery } from './actions.ts'
import { csv, exportEntries, ndjson } from './export.ts'

type Operations = Extract<keyof Handlers, `audit-log.${string}`>

export const auditLogRoutes = (app: App): Handlers<Operations> => ({
  'audit-log.list': ({ caller, query }) => listEntries(app, caller, query),
  'audit-log.days': ({ caller, query }) => countDays(app, caller, query),
  'audit-log.export-csv': ({ caller, team, query, reply }) => {
    saveAs(reply, team, query, 'csv')
    return exportEntries(app, caller, query, csv)
  },
  'audit-log.export-ndjson': ({ caller, team, query, reply }) => {
    saveAs(reply, team, query, 'ndjson')
    return exportEntries(app, caller, query, ndjson)
  },
})

function saveAs(reply: Input<'audit-log.list'>['reply'], team: TeamContext, query: RangeQuery, ending: string) {
  const [from, to] = [query.from, query.to].map((date) => date.slice(0, 10))
  reply.header('content-disposition', `attachment; filename="audit-log-${team.slug}-${from}-${to}.${ending}"`)
}
