import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { z } from 'zod'
import { EngineError, getMessage, isEngineError } from '../../../errors.ts'
import type { LineLog, LineLogs } from '../../../state/agent-state.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { StateManifest } from '../client/state-objects.ts'
import type { ClusterObject } from '../cluster/cluster.ts'
import type { StateAccess } from './state-access.ts'

/** On each Secret of a journal: that it is one, whose it is, and which part. */
const stateLabel = 'dev.crux.state'
const journalLabel = 'dev.crux.journal'
const segmentLabel = 'dev.crux.segment'
const nameAnnotation = 'dev.crux.journal-name'

/** A Secret that has this much is not appended to: every append sends the whole Secret. */
const segmentBytes = 256 * 1_024
/** Of the 1 MiB that Kubernetes allows for the values of a Secret. */
const bytesMax = 1_024 * 1_024 - 4_096

/** How often a write is repeated that met a change of labels or annotations. */
const attemptsMax = 5

const Content = z.object({ lines: z.base64() })

/**
 * Logs as Secrets. A log is one or more segments; each holds gzip members one after another, one per append, which decompress as one text.
 * Segments are found by their labels.
 */
export function openSecretLogs(access: StateAccess): LineLogs {
  const { objects, signal } = access
  const listSegments = async (name: string, state: string): Promise<ClusterObject[]> => {
    const labels = { [stateLabel]: state, [journalLabel]: toDigest(name) }
    const segments = await retryWhileUnavailable(() => collect(objects.list('Secret', labels)), signal)
    return segments.sort((left, right) => getSegment(left) - getSegment(right))
  }
  return {
    async create(name, lines) {
      const log = new SecretLog(access, name)
      await log.append(lines)
      return log
    },
    async list() {
      const names = await retryWhileUnavailable(async () => {
        const found = new Set<string>()
        for await (const segment of objects.list('Secret', { [stateLabel]: 'journal' })) found.add(getName(segment))
        return found
      }, signal)
      return [...names].sort()
    },
    async open(name) {
      const segments = await listSegments(name, 'journal')
      const parts = segments.map((segment, index) => {
        if (getSegment(segment) !== index) throw new Error(`the segment ${index} of ${name} is missing`)
        const bytes = findBytes(segment)
        if (!bytes) throw new Error(`the segment ${index} of ${name} has no lines`)
        return bytes
      })
      const lines = parts.map((bytes) => gunzipSync(bytes).toString('utf8')).join('')
      return { log: new SecretLog(access, name, segments, parts.at(-1)), lines }
    },
    async setAside(name) {
      for (const segment of await listSegments(name, 'journal')) {
        const metadata = { ...toMetadata(name, getSegment(segment), 'unreadable') }
        const { data } = segment.fields
        await retryWhileUnavailable(async () => {
          // One of an earlier attempt, or of an earlier release with the key, has been reported too.
          await objects.delete('Secret', metadata.name)
          await objects.create({ apiVersion: 'v1', kind: 'Secret', metadata, data })
          await objects.delete('Secret', segment.name)
        }, signal)
      }
    },
  }
}

/** A version of a segment. */
type Version = Pick<ClusterObject, 'kind' | 'name' | 'uid' | 'resourceVersion'>
const toVersion = ({ kind, name, resourceVersion, uid }: ClusterObject): Version => ({
  kind,
  name,
  uid,
  resourceVersion,
})

interface Attempt {
  lines: string
  segment: number
  bytes: Buffer
}

class SecretLog implements LineLog {
  readonly #access: StateAccess
  readonly #name: string
  /** The last segment, as it was last read or written; undefined before the first one exists. */
  #last: Version | undefined
  #bytes: Buffer
  /** How many segments there are. */
  #count: number
  /** The last write, unless it has succeeded: after a failure, the API server may have accepted it. */
  #attempt: Attempt | undefined

  constructor(
    access: StateAccess,
    name: string,
    segments: readonly ClusterObject[] = [],
    bytes: Buffer = Buffer.alloc(0),
  ) {
    const last = segments.at(-1)
    this.#access = access
    this.#name = name
    this.#last = last && toVersion(last)
    this.#bytes = bytes
    this.#count = segments.length
  }

  async append(lines: string): Promise<void> {
    try {
      await retryWhileUnavailable(() => this.#writeOnce(lines), this.#access.signal)
    } catch (error) {
      throw new Error(`the agent cannot write the journal ${this.#name} to the cluster: ${getMessage(error)}`, {
        cause: error,
      })
    }
  }

  /** Nothing: the API server has written it to its disks before it answers. */
  async secure(): Promise<void> {}

  /** Nothing: every request is complete in itself. */
  async close(): Promise<void> {}

  async remove(): Promise<void> {
    const { lost, objects, signal } = this.#access
    lost.throwIfAborted()
    // The first segment goes first: what a crash leaves is then no journal, and no earlier state of this one.
    for (let segment = 0; segment < this.#count; segment += 1)
      await retryWhileUnavailable(() => objects.delete('Secret', toMetadata(this.#name, segment).name), signal)
  }

  async #writeOnce(lines: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#access.lost.throwIfAborted()
      const rest = await this.#withoutWritten(lines)
      if (rest === '') return
      try {
        return await this.#write(rest)
      } catch (error) {
        // The next turn reads what was changed.
        if (!isEngineError(error, 'conflict') || attempt >= attemptsMax) throw error
      }
    }
  }

  async #write(lines: string): Promise<void> {
    const { objects } = this.#access
    const added = gzipSync(lines)
    if (added.length > bytesMax) throw new TooLargeError(this.#name, added.length)
    const last = this.#bytes.length + added.length > segmentBytes ? undefined : this.#last
    const segment = last ? this.#count - 1 : this.#count
    const bytes = last ? Buffer.concat([this.#bytes, added]) : added
    const attempt = { lines, segment, bytes }
    this.#attempt = attempt
    const data = toData(bytes)
    const written = last
      ? await objects.change(last, { data })
      : await objects.create(toManifest(this.#name, segment, data))
    this.#accept(written, attempt)
  }

  /**
   * Reads what became of the last write where that is not known.
   *
   * @returns the lines that are still to be written
   * @throws EngineError `conflict` when another program has changed the content, which must not be overwritten
   */
  async #withoutWritten(lines: string): Promise<string> {
    const attempt = this.#attempt
    if (!attempt) return lines
    const { name } = toMetadata(this.#name, attempt.segment)
    const found = await this.#access.objects.get('Secret', name)
    const stored = found && findBytes(found)
    if (found && stored?.equals(attempt.bytes)) {
      this.#accept(found, attempt)
      return lines.slice(attempt.lines.length)
    }
    if (attempt.segment < this.#count) {
      if (!found || !stored?.equals(this.#bytes))
        throw new EngineError('conflict', `another program has ${found ? 'changed' : 'deleted'} the Secret ${name}`)
      this.#last = toVersion(found)
    } else if (found) throw new EngineError('conflict', `the Secret ${name} exists already`)
    this.#attempt = undefined
    return lines
  }

  #accept(written: ClusterObject, { bytes, segment }: Attempt): void {
    this.#last = toVersion(written)
    this.#bytes = bytes
    this.#count = segment + 1
    this.#attempt = undefined
  }
}

class TooLargeError extends Error {
  override name = 'TooLargeError'

  constructor(release: string, bytes: number) {
    super(
      `a record of the release ${release} has ${Math.ceil(bytes / 1_024)} KiB compressed, and a Secret of Kubernetes holds ${Math.floor(bytesMax / 1_024)} KiB: deploy fewer containers at once, or smaller configurations`,
    )
  }
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}

/** Names of logs have letters that names of Secrets and labels have not. */
const toDigest = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 40)

const toMetadata = (name: string, segment: number, state: 'journal' | 'unreadable' = 'journal') => ({
  name: `crux-agent-${state}-${toDigest(name)}-${segment}`,
  labels: { [stateLabel]: state, [journalLabel]: toDigest(name), [segmentLabel]: String(segment) },
  annotations: { [nameAnnotation]: name },
})

const toData = (bytes: Buffer): Record<string, string> => ({ lines: bytes.toString('base64') })

const toManifest = (name: string, segment: number, data: Record<string, string>): StateManifest => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: toMetadata(name, segment),
  data,
})

const getSegment = ({ labels }: ClusterObject): number => Number.parseInt(labels[segmentLabel] ?? '', 10)

const getName = ({ annotations, name }: ClusterObject): string => annotations[nameAnnotation] ?? name

/** Undefined when another program has removed them. */
function findBytes({ fields }: ClusterObject): Buffer | undefined {
  const { data } = Content.safeParse(fields.data)
  return data && Buffer.from(data.lines, 'base64')
}
