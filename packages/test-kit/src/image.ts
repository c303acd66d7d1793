import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'tar-stream'

/** A test image: busybox from Debian's busybox-static on an empty file system, and a command. */
export type ImageSpec = {
  cmd?: string[]
  entrypoint?: string[]
  env?: Record<string, string>
  exposed?: number[]
  volumes?: string[]
  labels?: Record<string, string>
  workingDirectory?: string
  user?: string
  /** ISO; the same for all images by default. */
  created?: string
  healthCheck?: { test: string[]; intervalMs: number; retries?: number; startPeriodMs?: number }
  /** Additional executable files: path -> content. `web` answers with `/www/index.html`. */
  files?: Record<string, string | Buffer>
  /** Symbolic links: path -> target. */
  links?: Record<string, string>
  /** Contains only its own files: no shell, no tools. */
  bare?: boolean
  /** The size of a layer of random bytes, which makes a pull slower. */
  ballastBytes?: number
}

/** Answers `body` over HTTP on `port` until it is stopped; stops within milliseconds. */
export const web = (body: string, port = 8080): ImageSpec => ({
  cmd: ['/bin/sh', '-c', `trap 'exit 0' TERM INT; /bin/httpd -f -p ${port} -h /www & echo listening on :${port}; wait`],
  exposed: [port],
  files: { '/www/index.html': body },
})
/** Runs until it is stopped and logs only its first line. */
export const idle = (line = 'ready'): ImageSpec => ({
  cmd: ['/bin/sh', '-c', `trap 'exit 0' TERM INT; echo ${line}; while :; do sleep 3600 & wait; done`],
})
/** Exits by itself with this code after this time. */
export const exits = (code: number, afterMs = 0, line = 'bye'): ImageSpec => ({
  cmd: ['/bin/sh', '-c', `echo ${line}; sleep ${afterMs / 1_000}; exit ${code}`],
})

type Blob = { digest: string; bytes: Buffer }
/** `diffId`: the digest of the archive itself. */
type Layer = { archive: Buffer; diffId: string }
type Contents = { layers: Layer[]; config: Blob }
/** The format of a registry. */
type BuiltImage = { config: Blob; layers: Blob[]; manifest: Blob; manifestType: string }

const sha256 = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const blob = (bytes: Buffer): Blob => ({ digest: sha256(bytes), bytes })
const applets = [
  ...['awk', 'cat', 'date', 'df', 'echo', 'env', 'false', 'flock', 'head', 'hostname', 'httpd', 'id', 'kill', 'ls'],
  ...['mkdir', 'nc', 'nslookup', 'printf', 'pwd', 'rm', 'seq', 'sh', 'sleep', 'stat', 'sync', 'tail', 'test', 'touch'],
  ...['true', 'usleep', 'wget', 'yes'],
]

let base: Promise<Layer> | undefined

/** Builds in memory; deterministic for the same spec without ballast. */
async function listContents(spec: ImageSpec): Promise<Contents> {
  base ??= baseLayer()
  const layers = spec.bare ? [] : [await base]
  const files = Object.entries(spec.files ?? {}).map(([name, content]) => ({ name, content, mode: 0o755 }))
  const links = Object.entries(spec.links ?? {}).map(([name, link]) => ({ name, link }))
  if (files.length + links.length > 0) layers.push(await toLayer([...files, ...links]))
  if (spec.ballastBytes) {
    const { randomBytes } = await import('node:crypto')
    layers.push(await toLayer([{ name: '/ballast', content: randomBytes(spec.ballastBytes) }]))
  }
  const config = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    created: spec.created ?? '2026-01-01T00:00:00Z',
    config: {
      Cmd: spec.cmd ?? null,
      Entrypoint: spec.entrypoint ?? null,
      Env: ['PATH=/bin', ...Object.entries(spec.env ?? {}).map(([key, value]) => `${key}=${value}`)],
      ExposedPorts: Object.fromEntries((spec.exposed ?? []).map((port) => [`${port}/tcp`, {}])),
      Volumes: spec.volumes ? Object.fromEntries(spec.volumes.map((path) => [path, {}])) : undefined,
      Labels: spec.labels,
      WorkingDir: spec.workingDirectory,
      User: spec.user,
      Healthcheck: spec.healthCheck && {
        Test: spec.healthCheck.test,
        Interval: spec.healthCheck.intervalMs * 1e6,
        Retries: spec.healthCheck.retries ?? 1,
        StartPeriod: (spec.healthCheck.startPeriodMs ?? 0) * 1e6,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created: '2026-01-01T00:00:00Z', created_by: 'crux test kit' })),
  }
  return { layers, config: blob(Buffer.from(JSON.stringify(config))) }
}

/** The schema-2 format of the distribution specification. */
export async function buildImage(spec: ImageSpec): Promise<BuiltImage> {
  const { layers: plain, config } = await listContents(spec)
  const layers = await Promise.all(plain.map(compressed))
  const manifestType = 'application/vnd.docker.distribution.manifest.v2+json'
  const described = (one: Blob, mediaType: string) => ({ mediaType, size: one.bytes.length, digest: one.digest })
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: described(config, 'application/vnd.docker.container.image.v1+json'),
    layers: layers.map((one) => described(one, 'application/vnd.docker.image.rootfs.diff.tar.gzip')),
  }
  return { config, layers, manifest: blob(Buffer.from(JSON.stringify(manifest))), manifestType }
}

/** The format of `docker load`, with the full reference of the image. */
export async function saveImage(spec: ImageSpec, reference: string): Promise<Buffer> {
  const { layers, config } = await listContents(spec)
  const configName = `${config.digest.slice(7)}.json`
  const getName = ({ diffId }: Layer) => `${diffId.slice(7)}/layer.tar`
  const manifest = [{ Config: configName, RepoTags: [reference], Layers: layers.map(getName) }]
  return createArchive([
    { name: configName, content: config.bytes },
    ...layers.map((layer) => ({ name: getName(layer), content: layer.archive })),
    { name: 'manifest.json', content: JSON.stringify(manifest) },
  ])
}

type Entry = { name: string; content?: string | Buffer; link?: string; directory?: boolean; mode?: number }

async function baseLayer(): Promise<Layer> {
  const busybox = await readFile('/bin/busybox').catch(() => readFile('/usr/bin/busybox'))
  return toLayer([
    ...['bin', 'tmp', 'www', 'data', 'etc'].map((name) => ({
      name,
      directory: true,
      mode: name === 'tmp' ? 0o1777 : 0o755,
    })),
    { name: 'bin/busybox', content: busybox, mode: 0o755 },
    ...applets.map((applet) => ({ name: `bin/${applet}`, link: 'busybox' })),
    { name: 'etc/passwd', content: 'root:x:0:0:root:/:/bin/sh\n' },
  ])
}

async function toLayer(entries: Entry[]): Promise<Layer> {
  const archive = await createArchive(entries)
  return { archive, diffId: sha256(archive) }
}

const known = new WeakMap<Layer, Promise<Blob>>()

function compressed(layer: Layer): Promise<Blob> {
  const blobs = known.get(layer) ?? promisify(gzip)(layer.archive, { level: 1 }).then(blob)
  known.set(layer, blobs)
  return blobs
}

async function createArchive(entries: Entry[]): Promise<Buffer> {
  const archive = pack()
  const parts: Buffer[] = []
  archive.on('data', (part) => parts.push(part as Buffer))
  const done = new Promise<void>((resolve, reject) => archive.on('end', resolve).on('error', reject))
  for (const { name, content, link, directory, mode } of entries) {
    const path = name.replace(/^\//, '')
    const common = { name: path, mtime: new Date(0), mode: mode ?? 0o644 }
    if (directory) archive.entry({ ...common, type: 'directory', mode: mode ?? 0o755 })
    else if (link) archive.entry({ ...common, type: 'symlink', linkname: link, mode: 0o777 })
    else archive.entry({ ...common, type: 'file' }, content ?? '')
  }
  archive.finalize()
  await done
  return Buffer.concat(parts)
}
