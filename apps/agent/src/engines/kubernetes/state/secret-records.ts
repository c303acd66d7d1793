import { z } from 'zod'
import { EngineError, isEngineError } from '../../../errors.ts'
import type { RecordName, Records } from '../../../state/agent-state.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { StateObjects } from '../client/state-objects.ts'
import type { ClusterObject } from '../cluster/cluster.ts'
import type { StateAccess } from './state-access.ts'

/** Secrets of the agent's own namespace. The installation creates the second one. */
const stateSecret = 'crux-agent-state'
const installSecret = 'crux-agent-install'

const Data = z.record(z.string(), z.string()).default({})

/** How often a write is repeated that met a change of something else in the Secret. */
const attemptsMax = 5

/** Where a record is. The Secret of the install token is deleted with its record. */
const toPlace = (record: RecordName): { name: string; key: string } =>
  record === 'install-token' ? { name: installSecret, key: 'token' } : { name: stateSecret, key: record }

/**
 * Records as keys of Secrets. A record that another program has changed since this process read or wrote it is not overwritten: two agents
 * that both replaced the token would lose one of them.
 */
export function openSecretRecords({ lost, objects, signal }: StateAccess): Records {
  /** As this process last read or wrote them. */
  const known = new Map<RecordName, string | undefined>()
  const find = (record: RecordName) => retryWhileUnavailable(() => objects.get('Secret', toPlace(record).name), signal)

  async function replace(record: RecordName, content: string | undefined): Promise<void> {
    const { key, name } = toPlace(record)
    lost.throwIfAborted()
    for (let attempt = 1; ; attempt += 1) {
      const found = await find(record)
      const current = getText(found, key)
      if (current === content) break
      if (known.has(record) && known.get(record) !== current)
        throw new EngineError('conflict', `Another program has changed ${key} in the Secret ${name} of the agent`)
      try {
        await retryWhileUnavailable(() => put(objects, name, found, key, content), signal)
        break
      } catch (error) {
        // Also what an earlier attempt without an answer has written: the next turn sees it.
        if (!isEngineError(error, 'conflict') || attempt >= attemptsMax) throw error
      }
    }
    known.set(record, content)
  }

  return {
    async read(record) {
      const content = getText(await find(record), toPlace(record).key)
      known.set(record, content)
      return content
    },
    write: replace,
    async remove(record) {
      if (record !== 'install-token') return replace(record, undefined)
      lost.throwIfAborted()
      await retryWhileUnavailable(() => objects.delete('Secret', installSecret), signal)
    },
  }
}

async function put(
  objects: StateObjects,
  name: string,
  found: ClusterObject | undefined,
  key: string,
  content: string | undefined,
): Promise<void> {
  const data = { [key]: content === undefined ? null : Buffer.from(content).toString('base64') }
  if (found) await objects.change(found, { data })
  else await objects.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data })
}

function getText(found: ClusterObject | undefined, key: string): string | undefined {
  const content = Data.parse(found?.fields.data)[key]
  return content === undefined ? undefined : Buffer.from(content, 'base64').toString('utf8')
}
