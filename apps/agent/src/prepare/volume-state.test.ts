import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fillOnce } from './volume-state.ts'

let volume: string
beforeEach(async () => {
  volume = await mkdtemp(join(tmpdir(), 'crux-volume-'))
})
afterEach(() => rm(volume, { recursive: true, force: true }))

const fill = (identity: string, work: () => Promise<string>, signal = AbortSignal.timeout(10_000)) =>
  fillOnce(volume, identity, { signal }, work)

test('a volume is filled once for each release, by one of those that begin at the same time', async () => {
  let running = 0
  let most = 0
  const work = async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 20))
    running -= 1
    return 'filled'
  }
  const results = await Promise.all([1, 2, 3].map(() => fill('release 1', work)))
  expect(results.filter((result) => result === 'filled')).toHaveLength(1)
  expect(most).toBe(1)
  expect(await fill('release 1', work)).toBeUndefined()
  expect(await fill('release 2', work)).toBe('filled')
  expect(await fill('release 1', work)).toBe('filled')
  expect(await readdir(volume)).toEqual(['.crux-prepared'])
})

test('a volume that was filled only in part belongs to no release', async () => {
  await fill('release 1', async () => 'filled')
  await expect(fill('release 2', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await readdir(volume)).toEqual([])
  expect(await fill('release 1', async () => 'again')).toBe('again')
})

test('the lock of a process that works is waited for until the wait is ended', async () => {
  await writeFile(join(volume, '.crux-preparing'), 'another')
  const wait = fill('release 1', async () => 'filled', AbortSignal.timeout(700))
  await expect(wait).rejects.toThrow()
  expect(await readFile(join(volume, '.crux-preparing'), 'utf8')).toBe('another')
})

test('the lock of a process that is gone is taken over', async () => {
  await writeFile(join(volume, '.crux-preparing'), 'another')
  const options = { signal: AbortSignal.timeout(10_000), goneAfterMs: 600 }
  expect(await fillOnce(volume, 'release 1', options, async () => 'filled')).toBe('filled')
  expect(await readdir(volume)).toEqual(['.crux-prepared'])
})

test.each<[string, (path: string) => unknown]>([
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a link to a file that names the release', (path) => symlink(join(volume, 'outside'), path)],
  ['a link to itself', (path) => symlink(path, path)],
  ['a long file', (path) => writeFile(path, 'x'.repeat(100_000))],
])('what a container puts in the place of marker and lock is not read: %s', async (_, put) => {
  await writeFile(join(volume, 'outside'), 'release 1')
  await put(join(volume, '.crux-prepared'))
  await put(join(volume, '.crux-preparing'))
  const options = { signal: AbortSignal.timeout(10_000), goneAfterMs: 600 }
  expect(await fillOnce(volume, 'release 1', options, async () => 'filled')).toBe('filled')
  expect((await readdir(volume)).sort()).toEqual(['.crux-prepared', 'outside'])
  expect(await readFile(join(volume, '.crux-prepared'), 'utf8')).toBe('release 1')
})
