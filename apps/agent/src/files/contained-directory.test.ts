import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ContainedDirectory, openContainedDirectory } from './contained-directory.ts'
import { extractArchive } from './extract-archive.ts'

let base: string
let root: string
let outside: string
let directory: ContainedDirectory
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'crux-contained-'))
  root = join(base, 'root')
  outside = join(base, 'outside')
  await Promise.all([mkdir(root), mkdir(outside)])
  await writeFile(join(outside, 'mine'), 'mine')
  directory = await openContainedDirectory(root, { replace: true })
})
afterEach(async () => {
  await directory.close()
  await rm(base, { recursive: true, force: true })
})

async function* content(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

test('a contained directory replaces a link by a file or directory, or refuses it where nothing may be replaced', async () => {
  await symlink(outside, join(root, 'away'))
  const keeping = await openContainedDirectory(root, { replace: false })
  await expect(keeping.writeFile(['away', 'mine'], content('x'), {})).rejects.toThrow(
    'away is not a directory in the volume',
  )
  await keeping.close()
  expect(await directory.metadata(['away', 'mine'])).toBeUndefined()
  await directory.writeFile(['away', 'mine'], content('x'), {})
  expect(await readFile(join(outside, 'mine'), 'utf8')).toBe('mine')
  expect(await readFile(join(root, 'away', 'mine'), 'utf8')).toBe('x')
})

test('a contained directory removes links and not their targets', async () => {
  await symlink(outside, join(root, 'away'))
  await directory.writeFile(['kept', 'file'], content('x'), {})
  await directory.writeFile(['gone', 'deep', 'file'], content('x'), {})
  expect(await directory.removeUnwanted((path) => path.startsWith('kept'))).toBe(2)
  expect(await readdir(root)).toEqual(['kept'])
  expect(await readdir(outside)).toEqual(['mine'])
})

test('a contained directory keeps no partly written file and removes those of a killed process', async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('half')
    throw new Error('the line broke')
  }
  await directory.writeFile(['file'], content('old'), {})
  await expect(directory.writeFile(['file'], broken(), {})).rejects.toThrow('the line broke')
  expect(await readdir(root)).toEqual(['file'])
  expect(await readFile(join(root, 'file'), 'utf8')).toBe('old')
  await writeFile(join(root, '.crux-0011223344556677.part'), 'left')
  expect(await directory.removePartial()).toBe(1)
  expect(await readdir(root)).toEqual(['file'])
})

test.each([[['..', 'outside', 'mine']], [['a', '..', '..', 'x']], [['']], [['a/b']], [['.']], [[]]])(
  'a contained directory refuses the path %j',
  async (path) => {
    await expect(directory.writeFile(path, content('x'), {})).rejects.toThrow('is not a path inside')
  },
)

test('an archive is extracted with modes, times and links, and refused if a name leads out of it', async () => {
  const mtime = new Date('2026-01-02T03:04:05Z')
  const archive = pack()
  archive.entry({ name: 'app/', type: 'directory', mode: 0o755 })
  archive.entry({ name: 'app/tool', mode: 0o4755, mtime }, 'run')
  archive.entry({ name: 'app/again', type: 'link', linkname: 'app/tool' })
  archive.entry({ name: 'app/current', type: 'symlink', linkname: '/etc/passwd' })
  archive.entry({ name: 'app/pipe', type: 'fifo' })
  archive.finalize()
  const { files, skipped, paths } = await extractArchive(Readable.from(archive), directory)
  expect({ files, skipped, paths: [...paths].sort() }).toEqual({
    files: 1,
    skipped: ['pipe'],
    paths: ['again', 'current', 'pipe', 'tool'],
  })
  const tool = await stat(join(root, 'tool'))
  expect([tool.mode & 0o7777, tool.mtime, tool.nlink]).toEqual([0o755, mtime, 2])
  const evil = pack()
  evil.entry({ name: 'app/', type: 'directory' })
  evil.entry({ name: 'app/../../outside/mine' }, 'evil')
  evil.finalize()
  await expect(extractArchive(Readable.from(evil), directory)).rejects.toThrow('leads out of its directory')
  expect(await readFile(join(outside, 'mine'), 'utf8')).toBe('mine')
})
