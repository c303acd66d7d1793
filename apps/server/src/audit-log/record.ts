import { redact } from '@crux/service-kit'
import type { AbsentUser, Actor } from '../access/index.ts'
import type { App } from '../context.ts'
import { insertEntry } from './store.ts'

export type AuditEntry = {
  teamId: string
  actor: Actor | AbsentUser
  /** `rpc`: the server itself acts for the user. */
  context: 'http' | 'ws' | 'rpc'
  method?: 'post' | 'put' | 'patch' | 'delete'
  /** The contract's audit label with the operation: `registry registries.create`. */
  event: string
  /** False when the attempt was refused. */
  accepted: boolean
  data?: Record<string, unknown>
}

/** An entry names the request, but does not store a body of a megabyte. */
const dataBytesMax = 16_384

/** Records what a user did, or tried, without credentials. Never fails the request: an error is logged. */
export async function recordAudit(app: Pick<App, 'database' | 'log'>, entry: AuditEntry): Promise<void> {
  const { actor, data: given, ...rest } = entry
  // A user, or an account, may have several tokens.
  const data = actor.grant && actor.kind !== 'deployment-token' ? { ...given, tokenId: actor.grant.id } : given
  try {
    await insertEntry(app.database, {
      ...rest,
      actorType: actor.kind,
      actorId: actor.id,
      actorName: actor.name,
      actorEmail: actor.kind === 'user' ? actor.email || null : null,
      data: data === undefined ? null : shortened(redact(data)),
    })
  } catch (err) {
    app.log.error({ err, event: entry.event, teamId: entry.teamId, actorId: actor.id }, 'an audit entry was lost')
  }
}

function shortened(data: unknown): unknown {
  // PostgreSQL stores neither a null character nor half a surrogate pair in JSON, and neither may prevent the entry.
  const text = JSON.stringify(data).replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1')
  const bytes = Buffer.byteLength(text)
  return bytes > dataBytesMax ? { shortened: true, bytes } : JSON.parse(text)
}
