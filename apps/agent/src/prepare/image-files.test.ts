import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openContainedDirectory } from '../files/contained-directory.ts'
import { copyImageFiles } from './image-files.ts'
import { RegistryImage } from './registry-image.ts'

type Entry = Partial<Header> & { name: string; content?: string }

const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

let directory: string
let server: Server
let host: string
let content: Map<string, Buffer>
let answer: (request: IncomingMessage, response: ServerResponse) => boolean
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-image-files-'))
  await mkdir(join(directory, 'volume'))
  content = new Map()
  answer = () => false
  server = createServer((request, response) => {
    if (answer(request, response)) return
    const bytes = content.get(request.url?.split('/').at(-1) ?? '')
    if (bytes) response.end(bytes)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  host = `localhost:${typeof address === 'object' ? address?.port : ''}`
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await rm(directory, { recursive: true, force: true })
})

const volume = (...parts: string[]) => join(directory, 'volume', ...parts)
const store = (bytes: Buffer) => {
  content.set(sha256(bytes), bytes)
  return sha256(bytes)
}

async function toArchive(entries: Entry[]): Promise<Buffer> {
  const archive = pack()
  const collected = buffer(archive)
  for (const { content: text, ...header } of entries) archive.entry(header, text ?? '')
  archive.finalize()
  return collected
}

/** Puts an image of these layers, the lowest first, into the registry. */
async function publish(layers: Entry[][], form: 'gzip' | 'zstd' | 'plain' = 'gzip'): Promise<string> {
  const stored = await Promise.all(
    layers.map(async (entries) => {
      const plain = await toArchive(entries)
      const bytes = form === 'gzip' ? gzipSync(plain) : form === 'zstd' ? zstdCompressSync(plain) : plain
      const suffix = form === 'plain' ? '' : `+${form}`
      return { digest: store(bytes), size: bytes.length, mediaType: `application/vnd.oci.image.layer.v1.tar${suffix}` }
    }),
  )
  const manifest = store(Buffer.from(JSON.stringify({ layers: stored })))
  const platform = (name: string) => ({ os: 'linux', architecture: name })
  const others = { digest: `sha256:${'0'.repeat(64)}`, platform: platform('riscv64') }
  return store(
    Buffer.from(JSON.stringify({ manifests: [others, { digest: manifest, platform: platform(architecture) }] })),
  )
}

interface CopyOptions {
  keepFiles?: boolean
  keeps?: (path: string) => boolean
  bytesMax?: number
}

async function copy(
  digest: string,
  path: string,
  { bytesMax, keepFiles = false, keeps = () => false }: CopyOptions = {},
) {
  const image = new RegistryImage({ name: `${host}/app`, digest }, AbortSignal.timeout(20_000), bytesMax)
  const opened = await openContainedDirectory(volume(), { replace: !keepFiles, groupWrites: true })
  try {
    const options = { path, keepFiles, keeps, signal: AbortSignal.timeout(20_000) }
    return await copyImageFiles(image, opened, options)
  } finally {
    image.close()
    await opened.close()
  }
}

const file = (name: string, text: string, more: Partial<Header> = {}): Entry => ({ name, content: text, ...more })

test.each(['gzip', 'zstd', 'plain'] as const)('files of %s layers are those that the image shows', async (form) => {
  const digest = await publish(
    [
      [file('etc/app/a', 'lower'), file('etc/app/gone', 'x'), file('etc/app/sub/kept', 'kept'), file('etc/other', 'x')],
      [file('etc/app/a', 'upper', { mode: 0o640 }), file('etc/app/.wh.gone', '')],
    ],
    form,
  )
  await writeFile(volume('stale'), 'x')
  expect(await copy(digest, '/etc/app')).toEqual({ files: 2, bytes: 9, skipped: [], removed: 1 })
  expect((await readdir(volume(), { recursive: true })).sort()).toEqual(['a', 'sub', 'sub/kept'])
  expect(await readFile(volume('a'), 'utf8')).toBe('upper')
  expect((await stat(volume('a'))).mode & 0o777).toBe(0o660)
})

test('files that stay are those that the image does not have, and its deleted ones', async () => {
  const digest = await publish([[file('conf/gone', 'x'), file('conf/a', 'new')], [file('conf/.wh.gone', '')]])
  await writeFile(volume('gone'), 'mine')
  await writeFile(volume('a'), 'old')
  await copy(digest, '/conf', { keepFiles: true })
  expect(await readFile(volume('gone'), 'utf8')).toBe('mine')
  expect(await readFile(volume('a'), 'utf8')).toBe('new')
})

test('one file of an image goes into the volume by its name, and a path that the image does not have is named', async () => {
  const digest = await publish([[file('etc/app.conf', 'one'), file('etc/app.conf.d/b', 'two')]])
  await copy(digest, '/etc/app.conf')
  expect(await readdir(volume())).toEqual(['app.conf'])
  await expect(copy(digest, '/etc/none')).rejects.toThrow(`the image ${host}/app has no /etc/none`)
  await expect(copy(digest, '/etc/app.conf/more')).rejects.toThrow('has no /etc/app.conf/more')
})

test('a path over links of the image leads to the files that a container sees there, and never out of the image', async () => {
  const links = [
    { name: 'var/conf', type: 'symlink' as const, linkname: '../srv/conf' },
    { name: 'out', type: 'symlink' as const, linkname: '../../../srv' },
    { name: 'loop', type: 'symlink' as const, linkname: 'loop' },
  ]
  const digest = await publish([[file('srv/conf/app/a', 'linked')], links])
  await copy(digest, '/var/conf/app')
  expect(await readFile(volume('a'), 'utf8')).toBe('linked')
  await copy(digest, '/var/conf')
  expect(await readdir(volume())).toEqual(['app'])
  await copy(digest, '/out/conf/app')
  expect(await readFile(volume('a'), 'utf8')).toBe('linked')
  await expect(copy(digest, '/loop')).rejects.toThrow('leads over too many links')
  await expect(copy(digest, '/loop/x')).rejects.toThrow('leads over too many links')
})

test('hard links have their content, also from before them, outside of the path and in lower layers', async () => {
  const link = (name: string, linkname: string) => ({ name, type: 'link' as const, linkname })
  const digest = await publish([
    [file('usr/base', 'base')],
    [file('usr/outside', 'outside'), file('conf/a', 'a'), link('conf/b', 'conf/a'), link('conf/c', 'usr/outside')],
    [link('conf/d', 'usr/base')],
  ])
  await copy(digest, '/conf')
  const texts = await Promise.all(['a', 'b', 'c', 'd'].map((name) => readFile(volume(name), 'utf8')))
  expect(texts).toEqual(['a', 'a', 'outside', 'base'])
  const broken = await publish([[link('conf/x', 'none')]])
  await expect(copy(broken, '/conf')).rejects.toThrow('the image has no file none, to which x is a link')
})

test('nothing of an image is written out of the volume', async () => {
  const outside = join(directory, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'file'), 'mine')
  await expect(copy(await publish([[file('conf/../../outside/file', 'x')]]), '/conf')).rejects.toThrow('leads out of')
  // A link in the archive, and one that a container has left in the volume.
  await symlink(outside, volume('left'))
  const digest = await publish([
    [
      { name: 'conf/link', type: 'symlink', linkname: outside },
      file('conf/link/file', 'x'),
      file('conf/left/file', 'x'),
    ],
  ])
  await copy(digest, '/conf')
  expect(await readFile(join(outside, 'file'), 'utf8')).toBe('mine')
  expect((await lstat(volume('left'))).isDirectory()).toBe(true)
  const last = await publish([[{ name: 'conf/only', type: 'symlink', linkname: '/etc/passwd' }]])
  await copy(last, '/conf')
  expect(await readlink(volume('only'))).toBe('/etc/passwd')
})

test('devices, and what an engine adds to each container, are left out', async () => {
  const digest = await publish([
    [
      { name: 'conf/pipe', type: 'fifo' },
      { name: 'dev/null', type: 'character-device', devmajor: 1, devminor: 3 },
      file('etc/hosts', ''),
      file('etc/passwd', 'root'),
    ],
  ])
  expect(await copy(digest, '/')).toMatchObject({ files: 1, skipped: ['conf/pipe'] })
  expect((await readdir(volume(), { recursive: true })).sort()).toEqual(['etc', 'etc/passwd'])
})

test('entries of the volume that are none of the image stay, and the image may have none of their name', async () => {
  const keeps = (path: string) => path === '.crux-prepared'
  await writeFile(volume('.crux-prepared'), 'release 1')
  await copy(await publish([[file('conf/a', 'a')]]), '/conf', { keeps })
  expect((await readdir(volume())).sort()).toEqual(['.crux-prepared', 'a'])
  const digest = await publish([[file('conf/.crux-prepared', 'x')]])
  await expect(copy(digest, '/conf', { keeps })).rejects.toThrow('holds .crux-prepared, which has another meaning')
})

test('what a registry sends must be what the digest says', async () => {
  const digest = await publish([[file('conf/a', 'a')]])
  const other = gzipSync(await toArchive([file('conf/a', 'b')]))
  answer = ({ url }, response) => {
    if (!url?.includes('/blobs/')) return false
    response.end(other)
    return true
  }
  await expect(copy(digest, '/conf')).rejects.toThrow('sends another layer than the image has')
  answer = (_, response) => Boolean(response.end('{"layers":[]}'))
  await expect(copy(digest, '/conf')).rejects.toThrow(/sends something else than the image/)
})

test('an image without a variant for this machine, and layers of an unknown kind, are named', async () => {
  const manifests = [{ digest: `sha256:${'0'.repeat(64)}`, platform: { os: 'windows', architecture } }]
  const index = store(Buffer.from(JSON.stringify({ manifests })))
  await expect(copy(index, '/')).rejects.toThrow(`has no variant for linux/${architecture}`)
  const layers = [{ digest: `sha256:${'0'.repeat(64)}`, size: 1, mediaType: 'application/x-other' }]
  const manifest = store(Buffer.from(JSON.stringify({ layers })))
  await expect(copy(manifest, '/')).rejects.toThrow('layers of the type "application/x-other" cannot be read')
})

test('a registry that is busy for a moment is asked again', async () => {
  const digest = await publish([[file('conf/a', 'a')]])
  let refusals = 2
  answer = (_, response) => {
    if (refusals-- <= 0) return false
    response.writeHead(503).end()
    return true
  }
  expect(await copy(digest, '/conf')).toMatchObject({ files: 1 })
})

test('a small archive that unpacks to too much is given up', async () => {
  const digest = await publish([[file('conf/a', 'x'.repeat(1_000_000))]])
  await expect(copy(digest, '/conf', { bytesMax: 500_000 })).rejects.toThrow(`the image ${host}/app is too large`)
})
