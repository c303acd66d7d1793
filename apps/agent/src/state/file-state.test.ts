import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openFileLogs } from './file-state.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-file-state-'))
})
afterEach(() => rm(directory, { recursive: true }))

/** Files of the directory that this process has open, once for each handle. */
async function listOpen(): Promise<string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
  )
  return links.filter((path) => path.startsWith(directory))
}

test('calls at the same time open a log once, and its removal closes it', async () => {
  const path = join(directory, 'release.jsonl')
  const logs = openFileLogs(directory)
  const created = await logs.create('release', 'one\n')
  const { lines, log } = await logs.open('release')
  expect(lines).toBe('one\n')
  await Promise.all([log.append('two\n'), log.secure(), log.secure()])
  expect(await listOpen()).toEqual([path, path])
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n')
  await Promise.all([created.remove(), log.remove()])
  expect(await listOpen()).toEqual([])
})
