import { type TestEnvironment, unique } from '@crux/test-kit'
import type { Random } from './random.ts'

/** Values that the server has acknowledged, and values that it may have stored without an answer. */
interface Written<T> {
  acknowledged: T | undefined
  /** Sent after that, without an answer. */
  possible: T[]
}

interface Item {
  /** The name of the value, for the report of a loss. */
  name: string
  written: Written<string>
  read: () => Promise<string | undefined>
}

export interface Writers {
  /** Resolves when every writer has finished its current request. */
  stop(): Promise<void>
  /** Compares everything that was acknowledged with the answers of the server. */
  findLosses(): Promise<string[]>
  counts: { acknowledged: number; unanswered: number; reads: number }
  /** Answers that an outage does not explain. */
  problems: string[]
}

const pauseMs = 20
/** An outage explains these statuses, but never a missing session, team or project. */
const excused = (status: number) => status === 0 || status >= 500 || status === 429

/** Starts users who create and change projects, versions and configurations over REST, each one change after another, and other users who read. */
export function startWriters(
  testEnvironment: TestEnvironment,
  random: Random,
  options: { writers: number; readers: number; image: { projectId: string; versionId: string; imageIds: string[] } },
): Writers {
  const { client } = testEnvironment.user
  const { teamSlug } = testEnvironment
  const counts = { acknowledged: 0, unanswered: 0, reads: 0 }
  const problems: string[] = []
  const items: Item[] = []
  let isGoing = true

  async function attempt<T>(what: string, work: () => Promise<T>): Promise<{ value: T } | undefined> {
    try {
      return { value: await work() }
    } catch (error) {
      const status = (error as { status?: number }).status
      if (status === undefined || !excused(status)) problems.push(`${what}: ${status ?? ''} ${String(error)}`)
      return undefined
    }
  }

  async function write(what: string, written: Written<string>, value: string, send: () => Promise<unknown>) {
    written.possible.push(value)
    const done = await attempt(what, send)
    if (!done) {
      counts.unanswered += 1
      return
    }
    counts.acknowledged += 1
    written.acknowledged = value
    written.possible = []
  }

  async function createProject(): Promise<(() => Promise<void>) | undefined> {
    const name = unique('chaos-')
    const made = await attempt('projects.create', () =>
      client.call('projects.create', { params: { teamSlug }, body: { name, type: 'versioned', description: 'first' } }),
    )
    if (!made) {
      counts.unanswered += 1
      return undefined
    }
    counts.acknowledged += 1
    const params = { teamSlug, projectId: made.value.id }
    const written: Written<string> = { acknowledged: 'first', possible: [] }
    const read = async () => (await client.call('projects.get', { params })).description ?? ''
    items.push({ name: `project ${name}`, written, read })
    return async () => {
      if (random.isLikely(0.3)) {
        const version = unique('v')
        const sent = await attempt('versions.create', () =>
          client.call('versions.create', { params, body: { name: version, type: 'incremental', changelog: version } }),
        )
        counts[sent ? 'acknowledged' : 'unanswered'] += 1
        if (!sent) return
        const inVersion = { ...params, versionId: sent.value.id }
        const readVersion = async () => (await client.call('versions.get', { params: inVersion })).changelog ?? ''
        items.push({
          name: `version ${version}`,
          written: { acknowledged: version, possible: [] },
          read: readVersion,
        })
        return
      }
      const description = unique('d')
      await write('projects.update', written, description, () =>
        client.call('projects.update', { params, body: { name, description } }),
      )
    }
  }

  async function createAndChange(): Promise<void> {
    let change: (() => Promise<void>) | undefined
    while (isGoing) {
      if (!change || random.isLikely(0.2)) change = (await createProject()) ?? change
      else await change()
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  async function changeConfiguration(): Promise<void> {
    const { projectId, versionId, imageIds } = options.image
    const params = { teamSlug, projectId, versionId, imageId: imageIds[0] ?? '' }
    const written: Written<string> = { acknowledged: undefined, possible: [] }
    const read = async () =>
      (await client.call('images.get', { params })).config.environment?.find(({ key }) => key === 'CHAOS')?.value ??
      undefined
    items.push({ name: 'configuration of an image', written, read })
    while (isGoing) {
      const value = unique('c')
      await write('images.update', written, value, () =>
        client.call('images.update', { params, body: { config: { environment: [{ key: 'CHAOS', value }] } } }),
      )
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  async function read(): Promise<void> {
    while (isGoing) {
      const operation = random.pick(['projects.list', 'nodes.list'] as const)
      if (await attempt(operation, () => client.call(operation, { params: { teamSlug } }))) counts.reads += 1
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  const all = [
    ...Array.from({ length: options.writers }, createAndChange),
    changeConfiguration(),
    ...Array.from({ length: options.readers }, read),
  ]
  return {
    counts,
    problems,
    async stop() {
      isGoing = false
      await Promise.all(all)
    },
    async findLosses() {
      const losses: string[] = []
      for (const { name, written, read: readItem } of items) {
        if (written.acknowledged === undefined) continue
        const found = await readItem().catch((error) => String(error))
        if (found !== written.acknowledged && !written.possible.includes(found ?? ''))
          losses.push(`${name}: "${written.acknowledged}" was acknowledged, now there is "${found ?? 'nothing'}"`)
      }
      return losses
    },
  }
}
