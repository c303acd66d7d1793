import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listOpenFiles } from '../../test/kit/open-files.ts'
import { openFileLogs } from './file-state.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-file-state-'))
})
afterEach(() => rm(directory, { recursive: true }))

test('calls at the same time open a log once, and its removal closes it', async () => {
  const path = join(directory, 'release.jsonl')
  const logs = openFileLogs(directory)
  const created = await logs.create('release', 'one\n')
  const { lines, log } = await logs.open('release')
  expect(lines).toBe('one\n')
  await Promise.all([log.append('two\n'), log.secure(), log.secure()])
  expect(await listOpenFiles(directory)).toEqual([path, path])
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n')
  await Promise.all([created.remove(), log.remove()])
  expect(await listOpenFiles(directory)).toEqual([])
})

test('a log that was closed is open again for its next lines alone', async () => {
  const path = join(directory, 'release.jsonl')
  const log = await openFileLogs(directory).create('release', 'one\n')
  await log.close()
  await log.close()
  expect(await listOpenFiles(directory)).toEqual([])
  await log.append('two\n')
  expect(await listOpenFiles(directory)).toEqual([path])
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n')
  await log.remove()
  expect(await listOpenFiles(directory)).toEqual([])
})
