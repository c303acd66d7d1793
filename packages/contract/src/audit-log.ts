import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { auditActorTypes, auditContexts, auditMethods } from './enums.ts'
import { Id, Page, paginated, Timestamp } from './shapes.ts'

export const AuditLogEntry = z.object({
  id: Id,
  createdAt: Timestamp,
  actorType: z.enum(auditActorTypes),
  /** Absent for tokens and for deleted users; `name` is always present. */
  user: z.object({ id: z.string(), email: z.string() }).nullish(),
  /** The name of the user, the token or the service account at that time. */
  name: z.string(),
  context: z.enum(auditContexts),
  method: z.enum(auditMethods).nullish(),
  event: z.string(),
  /** False for a refused attempt. */
  accepted: z.boolean(),
  data: z.unknown(),
  /** The affected resource with its current name; absent for deleted resources, and in exports. */
  subject: z
    .object({
      kind: z.enum([
        'deployment',
        'version',
        'project',
        'node',
        'registry',
        'config-bundle',
        'storage',
        'pipeline',
        'notification',
        'package',
      ]),
      id: Id,
      name: z.string(),
      projectId: Id.nullish(),
    })
    .optional(),
})

const time = z.iso.datetime({ offset: true })
/** `from` and `to` are ISO 8601, both inclusive. `filter` is a part of the event or of the actor's name or address, in any case. */
const range = {
  from: time,
  to: time,
  filter: z.string().trim().max(200).optional(),
  accepted: z.enum(['true', 'false']).optional(),
}
const auditLog = '/api/:teamSlug/audit-log'

/** The accepted and refused actions of one day (`2026-11-21`) in the requested time zone; days without entries are absent. */
export const AuditLogDay = z.object({ day: z.iso.date(), accepted: z.int(), refused: z.int() })

export const auditLogEndpoints = endpoints({
  'audit-log.list': {
    summary: 'List the audit log of a team, newest first',
    route: `GET ${auditLog}`,
    query: Page.extend(range),
    response: paginated(AuditLogEntry),
    permission: 'audit-log.read',
  },
  'audit-log.days': {
    summary: 'Count the entries of the audit log per day, oldest first',
    route: `GET ${auditLog}/days`,
    query: z.object({ ...range, /** IANA name: `Europe/Berlin`. */ timeZone: z.string().max(64).default('UTC') }),
    response: z.array(AuditLogDay),
    permission: 'audit-log.read',
  },
  'audit-log.export-csv': {
    summary: 'Download the audit log as CSV (RFC 4180), oldest first',
    route: `GET ${auditLog}/export.csv`,
    query: z.object(range),
    contentType: 'text/csv; charset=utf-8',
    permission: 'audit-log.read',
  },
  'audit-log.export-ndjson': {
    summary: 'Download the audit log with one JSON object per line, oldest first',
    route: `GET ${auditLog}/export.ndjson`,
    query: z.object(range),
    contentType: 'application/x-ndjson; charset=utf-8',
    permission: 'audit-log.read',
  },
})
