import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { create, toBinary } from '@bufbuild/protobuf'
import { type DeploymentEvent, DeploymentEventSchema, LogLevel, ReleaseSchema } from '@crux/agent-protocol'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openJournals } from '../journal/journal.ts'
import { createProgressReporter } from '../journal/progress-reporter.ts'
import type { AgentClient } from '../link/client.ts'
import { openFileLogs } from '../state/file-state.ts'
import { createReporter } from './reporter.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-reporter-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** A reporter to a server that acknowledges everything. */
function report(heard: (events: DeploymentEvent[]) => void, gatherMs?: number) {
  const done = Promise.withResolvers<void>()
  const client = {
    async reportDeployment({ events }: { events: DeploymentEvent[] }) {
      heard(events)
      return { acknowledgedSequence: events.at(-1)?.sequence }
    },
  } as unknown as AgentClient
  const log = createLogger({ name: 'test', level: 'silent' })
  const reporter = createReporter({ client, log, onDone: async () => done.resolve(), gatherMs })
  return { reporter, done: done.promise }
}

test('the reporter sends the outcome and the last event at once and batches the events before them', async () => {
  const batches: number[] = []
  const { reporter, done } = report((events) => batches.push(events.length), 60_000)
  const key = { deploymentId: 'gathers', number: 1 }
  const journal = await openJournals(openFileLogs(directory)).create(create(ReleaseSchema, { key }))
  const say = (line: string) =>
    journal.append({
      case: 'log',
      value: { instanceId: '', level: LogLevel.INFO, lines: [line], fromContainer: false },
    })
  reporter.linkUp()
  reporter.follow(journal)
  for (let number = 0; number < 20; number++) say(`soon ${number}`)
  await delay(50)
  expect(batches).toEqual([])
  journal.append({ case: 'outcome', value: { successful: true } })
  await expect.poll(() => batches.length).toBe(1)
  say('removed what it replaced')
  journal.append({ case: 'cleanUpEnd', value: {} })
  await done
  expect(batches).toEqual([21, 2])
  await journal.drop()
})

test('an outcome that arrives during the transfer of a batch is sent right after it', async () => {
  const batches: number[] = []
  const { reporter, done } = report((events) => {
    batches.push(events.length)
    // The server delays its answer to the first batch.
    if (batches.length === 1) journal.append({ case: 'outcome', value: { successful: true } })
  }, 60_000)
  const key = { deploymentId: 'meanwhile', number: 1 }
  const journal = await openJournals(openFileLogs(directory)).create(create(ReleaseSchema, { key }))
  // A full batch does not wait for more.
  for (let number = 0; number < 200; number++)
    journal.append({
      case: 'log',
      value: { instanceId: '', level: LogLevel.INFO, lines: [`line ${number}`], fromContainer: false },
    })
  reporter.linkUp()
  reporter.follow(journal)
  await expect.poll(() => batches).toEqual([200, 1])
  journal.append({ case: 'cleanUpEnd', value: {} })
  await done
  expect(batches).toEqual([200, 1, 1])
  await journal.drop()
})

test('the reporter sends all events in messages that the server accepts', async () => {
  const sizes: number[] = []
  const { reporter, done } = report((events) =>
    sizes.push(events.reduce((sum, event) => sum + toBinary(DeploymentEventSchema, event).length, 0)),
  )
  const key = { deploymentId: 'large', number: 1 }
  const journal = openJournals(openFileLogs(directory)).unwritten(create(ReleaseSchema, { key }))
  const progressReporter = createProgressReporter(journal)
  // The last log lines of containers that print no text, in lines of 64 kB.
  const words = Array.from({ length: 100 }, () => '\ufffd'.repeat(64 * 1_024))
  for (let round = 0; round < 6; round++) progressReporter.containerLog('web', words)
  journal.append({ case: 'outcome', value: { successful: false } })
  reporter.follow(journal)
  reporter.linkUp()
  await done
  expect(sizes.length).toBeGreaterThan(1)
  expect(Math.max(...sizes)).toBeLessThan(8 * 1_048_576)
})
