import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create } from '@bufbuild/protobuf'
import { ReleaseSchema } from '@crux/agent-protocol'
import { createLogger } from '@crux/service-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listOpenFiles } from '../../test/kit/open-files.ts'
import { orAborted } from '../concurrency/pause.ts'
import { openJournals } from '../journal/journal.ts'
import type { AgentClient } from '../link/client.ts'
import { openFileLogs } from '../state/file-state.ts'
import { Releases } from './releases.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-releases-'))
})
afterEach(() => rm(directory, { recursive: true }))

/** Releases whose engine works until it is interrupted, without a link to the server. */
function openReleases() {
  const begun: number[] = []
  const releases = new Releases({
    engine: {
      async applyRelease({ key }, { ending, signal }) {
        begun.push(key.number)
        await orAborted(new Promise(() => undefined), AbortSignal.any([signal, ending]))
      },
      previousContainersRun: async () => false,
      releaseEnded: () => undefined,
    },
    journals: openJournals(openFileLogs(directory)),
    client: {} as AgentClient,
    log: createLogger({ name: 'test', level: 'silent' }),
  })
  return { begun, releases }
}

const toRelease = (number: number, prefix: string) =>
  create(ReleaseSchema, { key: { deploymentId: 'shop', number }, owner: { prefix } })

test('releases that end with their process leave their journals to the next one, and none of them open', async () => {
  const { begun, releases } = openReleases()
  await releases.accept(toRelease(1, 'one'))
  await releases.accept(toRelease(2, 'two'))
  await expect.poll(() => begun).toEqual([1, 2])
  expect(await listOpenFiles(directory)).toHaveLength(2)
  // It is being written when the process ends.
  const accepting = releases.accept(toRelease(3, 'one'))
  await releases.stop()
  expect(await listOpenFiles(directory)).toEqual([])
  await accepting

  const next = openReleases()
  await next.releases.resume()
  expect(next.releases.openKeys().map(({ number }) => number)).toEqual([1, 2, 3])
  await expect.poll(() => next.begun).toEqual([1, 2])
  await next.releases.stop()
  expect(await listOpenFiles(directory)).toEqual([])
})
