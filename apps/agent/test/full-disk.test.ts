import { execFile } from 'node:child_process'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LogLevel, Phase, PhaseState } from '@crux/agent-protocol'
import { freePort } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openJournals } from '../src/journal/journal.ts'
import { openFileLogs } from '../src/state/file-state.ts'
import {
  askPort,
  startTestAgent,
  startTestEnvironment,
  type TestAgent,
  type TestEnvironment,
  waitUntil,
  webImage,
} from './kit/index.ts'

const run = promisify(execFile)
let disk: string
let testEnvironment: TestEnvironment
let agent: TestAgent

/** Only root may mount a disk small enough to be filled. */
const mayMount = process.getuid?.() === 0

describe.runIf(mayMount)('a data directory on a full disk', () => {
  beforeAll(async () => {
    disk = await mkdtemp(join(tmpdir(), 'crux-disk-'))
    await run('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk])
    testEnvironment = await startTestEnvironment()
    await testEnvironment.agent.stop()
    const { owner, server } = testEnvironment
    agent = await startTestAgent(server, { dataDir: disk, token: server.newInstallToken(), nodeId: owner.nodeId })
    await server.waitForLink()
  })
  afterAll(async () => {
    await agent?.stop()
    await testEnvironment?.dispose()
    await run('umount', ['-l', disk])
    await rm(disk, { recursive: true, force: true })
  })

  const ballast = () => join(disk, 'ballast')
  async function fill(): Promise<void> {
    const file = await open(ballast(), 'a')
    try {
      for (const size of [65_536, 4_096, 512, 1])
        while (
          await file.write(Buffer.alloc(size)).then(
            () => true,
            () => false,
          )
        );
    } finally {
      await file.close()
    }
  }
  const makeRoom = () => rm(ballast(), { force: true })

  test('loses no line of a journal and keeps no partial line', async () => {
    const directory = openJournals(openFileLogs(join(disk, 'journal')))
    const key = { deploymentId: 'd', number: 1 }
    const journal = await directory.create(testEnvironment.release({ deploymentId: key.deploymentId, instances: [] }))
    await fill()
    const text = 'x'.repeat(5_000)
    journal.append({
      case: 'log',
      value: { instanceId: '', level: LogLevel.INFO, lines: [text], fromContainer: false },
    })
    await expect(journal.decide({ committed: true })).rejects.toThrow(
      /cannot write its data directory: .*no space left on device/,
    )
    await expect(directory.create(testEnvironment.release({ deploymentId: 'e', instances: [] }))).rejects.toThrow(
      'no space left',
    )
    await makeRoom()
    await journal.decide({ digests: { web: 'sha256:1' } })
    const { journals, unreadable } = await directory.load()
    expect(unreadable).toEqual([])
    expect(journals).toHaveLength(1)
    expect(journals[0]?.state).toEqual({ committed: true, digests: { web: 'sha256:1' } })
    expect(journals[0]?.eventsAfter(0, 10).map(({ event }) => event.value)).toMatchObject([{ lines: [text] }])
    await journals[0]?.drop()
    await journal.drop()
  })

  test('restores the service when a release fails then and starts no other release', async () => {
    const [one, two] = await Promise.all([
      testEnvironment.publish('web:1', webImage('one')),
      testEnvironment.publish('web:2', webImage('two')),
    ])
    const port = await freePort()
    const release = (image: string, more?: object) =>
      testEnvironment.release({
        observationWindowMs: more === undefined ? 300 : 5_000,
        instances: [
          { instanceId: 'web', image, config: { name: 'web', ports: [{ internal: 8080, external: port }], ...more } },
        ],
      })
    expect(await testEnvironment.server.deployAndWait(release(one.reference))).toMatchObject({ successful: true })

    // More text than fits on the last page of the journal.
    const script = 'sleep 1; for line in $(seq 100); do seq -s. 40; done; exit 3'
    const caught = release(two.reference, {
      commands: [{ key: '/bin/sh' }, { key: '-c' }],
      args: [{ key: script }],
    })
    testEnvironment.server.deploy(caught)
    // The two cannot run at once: the previous container is stopped now.
    await waitUntil('the new one is checked', () =>
      (caught.key ? testEnvironment.server.listEvents(caught.key) : []).some(
        ({ event }) =>
          event.case === 'phase' && event.value.phase === Phase.VERIFY && event.value.state === PhaseState.RUNNING,
      ),
    )
    await fill()
    const outcome = await testEnvironment.server.getOutcome(caught)
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    expect(outcome.reason).toContain('exit code 3')
    expect(await waitUntil('the previous one answers', () => askPort(port).catch(() => undefined))).toBe('one')

    // Its journal was deleted, which freed space.
    await fill()
    const unstarted = await testEnvironment.server.deployAndWait(release(two.reference))
    expect(unstarted).toMatchObject({ successful: false, previousRestored: true })
    expect(unstarted.reason).toMatch(/the release did not start: .*no space left on device/)
    expect(await askPort(port)).toBe('one')

    await makeRoom()
    expect(await testEnvironment.server.deployAndWait(release(two.reference))).toMatchObject({ successful: true })
    expect(await waitUntil('the new one answers', () => askPort(port).catch(() => undefined))).toBe('two')
    await waitUntil('no journal is left', async () => (await readdir(join(disk, '.agent', 'journal'))).length === 0)
  })
})
