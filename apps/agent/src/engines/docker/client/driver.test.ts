import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ContainerState } from '@crux/agent-protocol'
import { createLogger } from '@crux/service-kit'
import { expect, test } from 'vitest'
import { waitUntil } from '../../../../test/kit/wait-until.ts'
import { watchContainers } from '../../../streams/watch.ts'
import type { EngineEvent } from '../../engine.ts'
import type { Driver } from '../containers/container-engine.ts'
import { openDockerDriver } from './driver.ts'

const listed = (id: string) => ({
  Id: id,
  Names: [`/${id}`],
  Image: 'app:1',
  Command: 'run',
  Created: 1,
  Labels: {},
  State: 'running',
  Status: 'Up 2 hours',
  Ports: [],
})
const inspected = (id: string) => ({
  Id: id,
  Name: `/${id}`,
  Config: { Image: 'app:1', Labels: {} },
  State: { Status: 'running', Running: true, StartedAt: '2026-01-01T00:00:00Z', ExitCode: 0 },
  RestartCount: 3,
})

/** A driver of an engine that answers all requests but those for its version as `answer` does. */
async function withEngine(answer: RequestListener, run: (driver: Driver) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'crux-engine-'))
  const path = join(directory, 'docker.sock')
  const engine = createServer((request, response) =>
    request.url === '/version' ? response.end('{}') : answer(request, response),
  )
  await new Promise<void>((resolve) => engine.listen(path, resolve))
  const driver = await openDockerDriver(`unix://${path}`, createLogger({ name: 'test', level: 'silent' }), {
    heldMs: 500,
  })
  try {
    await run(driver)
  } finally {
    driver.close()
    engine.closeAllConnections()
    engine.close()
    await rm(directory, { recursive: true, force: true })
  }
}

const inspectedId = (url: string) => /containers\/(\w+)\/json/.exec(url)?.[1]
function answerJson(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}

test('a container that the engine holds locked hides no other container and is inspected again when it is free', async () => {
  const free = Promise.withResolvers<void>()
  const answer: RequestListener = async ({ url = '' }, response) => {
    const id = inspectedId(url)
    if (url.includes('/events')) return response.flushHeaders()
    if (id === 'held') await free.promise
    answerJson(response, id ? inspected(id) : ['held', 'other'].map(listed))
  }
  await withEngine(answer, async (driver) => {
    const ending = new AbortController()
    const updates = watchContainers(driver, { prefix: undefined, signal: ending.signal })
    try {
      const first = (await updates.next()).value
      expect(first?.containers).toMatchObject([
        { engineId: 'held', state: ContainerState.RUNNING, reason: 'Up 2 hours', restartCount: 0 },
        { engineId: 'other', restartCount: 3 },
      ])
      free.resolve()
      const second = (await updates.next()).value
      expect(second).toMatchObject({ full: false, containers: [{ engineId: 'held', restartCount: 3 }] })
    } finally {
      ending.abort()
    }
  })
})

/**
 * An engine whose stream of events delivers only what the test writes to it, as one that is late does, and that answers requests for
 * recorded events after `answering`. It counts the other requests.
 */
function lateEngine(answering: Promise<void> = Promise.resolve()) {
  const recorded: { id: string; at: bigint }[] = []
  const engine = {
    requests: 0,
    stream: Promise.withResolvers<ServerResponse>(),
    record: (id: string, at: bigint) => recorded.push({ id, at }),
    answer: (async ({ url = '' }, response) => {
      const { searchParams: asked } = new URL(url, 'http://engine')
      const id = inspectedId(url)
      if (!url.includes('/events')) {
        engine.requests += 1
        return answerJson(response, id ? inspected(id) : recorded.map((event) => listed(event.id)))
      }
      response.flushHeaders()
      const since = asked.get('since')
      if (since === null) return engine.stream.resolve(response)
      await answering
      for (const event of recorded) if (event.at >= nanos(since)) response.write(eventLine(event))
      response.end()
    }) satisfies RequestListener,
  }
  return engine
}
const nanos = (seconds: string) => BigInt(seconds.replace('.', ''))
const eventLine = ({ id, at }: { id: string; at: bigint }) =>
  `${JSON.stringify({ Type: 'container', Action: 'create', Actor: { ID: id, Attributes: {} } }).slice(0, -1)},"timeNano":${at}}\n`
const nextEvent = (driver: Driver, kind: EngineEvent['kind']) =>
  new Promise<void>((resolve) => driver.subscribe((event) => event.kind === kind && resolve()))
const ids = async (driver: Driver) => (await driver.list({ prefix: undefined })).map(({ engineId }) => engineId).sort()

test('a container is listed whose event the engine recorded after an event of a later time', async () => {
  const engine = lateEngine()
  await withEngine(engine.answer, async (driver) => {
    await nextEvent(driver, 'relist')
    const stream = await engine.stream.promise
    expect(await ids(driver)).toEqual([])
    const now = BigInt(Date.now()) * 1_000_000n
    const arrived = nextEvent(driver, 'container')
    engine.record('second', now)
    stream.write(eventLine({ id: 'second', at: now }))
    await arrived
    engine.record('first', now - 5_000_000n)
    expect(await ids(driver)).toEqual(['first', 'second'])
    const { requests } = engine
    expect(await ids(driver)).toEqual(['first', 'second'])
    expect(engine.requests).toBe(requests)
  })
})

test('a late stream of events causes neither a second event nor a second inspection of what a list showed before', async () => {
  const engine = lateEngine()
  await withEngine(engine.answer, async (driver) => {
    await nextEvent(driver, 'relist')
    const stream = await engine.stream.promise
    expect(await ids(driver)).toEqual([])
    const created: string[] = []
    driver.subscribe((event) => event.kind === 'container' && created.push(event.id))
    const early = { id: 'early', at: BigInt(Date.now()) * 1_000_000n }
    engine.record(early.id, early.at)
    expect(await ids(driver)).toEqual(['early'])
    expect(created).toEqual(['early'])
    const { requests } = engine
    const later = { id: 'later', at: early.at + 1n }
    stream.write(eventLine(early))
    stream.write(eventLine(later))
    await waitUntil('the later one', () => created.includes('later'))
    expect(created).toEqual(['early', 'later'])
    engine.record(later.id, later.at)
    expect(await ids(driver)).toEqual(['early', 'later'])
    // The later one alone: its inspection and its row of a list.
    expect(engine.requests).toBe(requests + 2)
  })
})

test('all containers are listed when the engine does not say in time what changed', async () => {
  const engine = lateEngine(new Promise(() => undefined))
  await withEngine(engine.answer, async (driver) => {
    await nextEvent(driver, 'relist')
    expect(await ids(driver)).toEqual([])
    engine.record('new', BigInt(Date.now()) * 1_000_000n)
    expect(await ids(driver)).toEqual(['new'])
  })
})
