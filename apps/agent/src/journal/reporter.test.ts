import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create } from '@bufbuild/protobuf'
import { LogLevel, ReleaseSchema } from '@crux/agent-protocol'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AgentClient } from '../link/client.ts'
import { openJournalFolder } from './journal.ts'
import { createReporter } from './reporter.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crux-reporter-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('sends the first event at once, gathers what follows, and lets the last one wait for nothing', async () => {
  const batches: number[] = []
  const done = Promise.withResolvers<void>()
  const client = {
    async reportDeployment({ events }: { events: { sequence: bigint }[] }) {
      batches.push(events.length)
      return { acknowledgedSequence: events.at(-1)?.sequence }
    },
  } as unknown as AgentClient
  const reporter = createReporter({
    client,
    log: createLogger({ name: 'test', level: 'silent' }),
    onDone: async () => done.resolve(),
    gatherMs: 60_000,
  })
  const key = { deploymentId: 'gathers', number: 1 }
  const journal = await openJournalFolder(folder).create(create(ReleaseSchema, { key }))
  const say = (line: string) =>
    journal.append({
      case: 'log',
      value: { instanceId: '', level: LogLevel.INFO, lines: [line], fromContainer: false },
    })
  reporter.linkUp()
  reporter.follow(journal)
  say('first')
  await expect.poll(() => batches.length).toBe(1)
  for (let number = 0; number < 20; number++) say(`soon ${number}`)
  journal.append({ case: 'outcome', value: { successful: true } })
  await done.promise
  expect(batches).toEqual([1, 21])
  await journal.drop()
})
