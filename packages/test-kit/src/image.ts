import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** What a test image is: busybox from Debian's busybox-static on an empty file system, and a command. */
export type ImageSpec = {
  cmd?: string[]
  entrypoint?: string[]
  env?: Record<string, string>
  exposed?: number[]
  volumes?: string[]
  labels?: Record<string, string>
  workingDirectory?: string
  user?: string
  /** ISO; the same for every image where it does not matter. */
  created?: string
  healthCheck?: { test: string[]; intervalMs: number; retries?: number; startPeriodMs?: number }
  /** Further files: path -> content. `/www/index.html` is what `web` answers. */
  files?: Record<string, string | Buffer>
  /** Random bytes in a layer of its own, so that a pull takes a while. */
  ballastBytes?: number
}

/** Answers `body` over HTTP on `port` until it is stopped; stops within milliseconds. */
export const web = (body: string, port = 8080): ImageSpec => ({
  cmd: ['/bin/sh', '-c', `trap 'exit 0' TERM INT; /bin/httpd -f -p ${port} -h /www & echo listening on :${port}; wait`],
  exposed: [port],
  files: { '/www/index.html': body },
})
/** Runs until it is stopped and says nothing after its first line. */
export const idle = (line = 'ready'): ImageSpec => ({
  cmd: ['/bin/sh', '-c', `trap 'exit 0' TERM INT; echo ${line}; while :; do sleep 3600 & wait; done`],
})
/** Ends by itself with this code after so many milliseconds. */
export const exits = (code: number, afterMs = 0, line = 'bye'): ImageSpec => ({
  cmd: ['/bin/sh', '-c', `echo ${line}; sleep ${afterMs / 1_000}; exit ${code}`],
})

export type Blob = { digest: string; bytes: Buffer }
export type BuiltImage = { config: Blob; layers: (Blob & { diffId: string })[]; manifest: Blob; manifestType: string }

const sha256 = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const blob = (bytes: Buffer): Blob => ({ digest: sha256(bytes), bytes })
const applets = [
  'sh',
  'httpd',
  'sleep',
  'echo',
  'cat',
  'nc',
  'wget',
  'seq',
  'yes',
  'date',
  'kill',
  'ls',
  'mkdir',
  'rm',
  'touch',
  'env',
  'id',
  'nslookup',
  'tail',
  'head',
  'test',
  'true',
  'false',
  'pwd',
  'hostname',
  'sync',
  'flock',
]

let base: Promise<Blob & { diffId: string }> | undefined

/** Builds an image in memory, in the schema-2 form of the distribution specification. Deterministic for the same spec without ballast. */
export async function buildImage(spec: ImageSpec): Promise<BuiltImage> {
  base ??= baseLayer()
  const layers = [await base]
  if (spec.files)
    layers.push(
      await layer(
        Object.entries(spec.files).map(([name, content]) => ({ name, content: Buffer.from(content as string) })),
      ),
    )
  if (spec.ballastBytes) {
    const { randomBytes } = await import('node:crypto')
    layers.push(await layer([{ name: '/ballast', content: randomBytes(spec.ballastBytes) }]))
  }
  const config = blob(
    Buffer.from(
      JSON.stringify({
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
        rootfs: { type: 'layers', diff_ids: layers.map((one) => one.diffId) },
        history: layers.map(() => ({ created: '2026-01-01T00:00:00Z', created_by: 'crux test kit' })),
      }),
    ),
  )
  const manifestType = 'application/vnd.docker.distribution.manifest.v2+json'
  const manifest = blob(
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: manifestType,
        config: {
          mediaType: 'application/vnd.docker.container.image.v1+json',
          size: config.bytes.length,
          digest: config.digest,
        },
        layers: layers.map((one) => ({
          mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
          size: one.bytes.length,
          digest: one.digest,
        })),
      }),
    ),
  )
  return { config, layers, manifest, manifestType }
}

type Entry = { name: string; content?: Buffer; link?: string; directory?: boolean; mode?: number }

async function baseLayer() {
  const busybox = await readFile('/bin/busybox').catch(() => readFile('/usr/bin/busybox'))
  return layer([
    ...['bin', 'tmp', 'www', 'data', 'etc'].map((name) => ({
      name,
      directory: true,
      mode: name === 'tmp' ? 0o1777 : 0o755,
    })),
    { name: 'bin/busybox', content: busybox, mode: 0o755 },
    ...applets.map((applet) => ({ name: `bin/${applet}`, link: 'busybox' })),
    { name: 'etc/passwd', content: Buffer.from('root:x:0:0:root:/:/bin/sh\n') },
  ])
}

async function layer(entries: Entry[]): Promise<Blob & { diffId: string }> {
  const archive = pack()
  const parts: Buffer[] = []
  archive.on('data', (part) => parts.push(part as Buffer))
  const done = new Promise<void>((resolve, reject) => archive.on('end', resolve).on('error', reject))
  for (const { name, content, link, directory, mode } of entries) {
    const path = name.replace(/^\//, '')
    const common = { name: path, mtime: new Date(0), mode: mode ?? 0o644 }
    if (directory) archive.entry({ ...common, type: 'directory', mode: mode ?? 0o755 })
    else if (link) archive.entry({ ...common, type: 'symlink', linkname: link, mode: 0o777 })
    else archive.entry({ ...common, type: 'file' }, content ?? Buffer.alloc(0))
  }
  archive.finalize()
  await done
  const tar = Buffer.concat(parts)
  return { ...blob(gzipSync(tar, { level: 1 })), diffId: sha256(tar) }
}

/** The image as `docker load` takes it, with its full reference. */
export async function saveImage(image: BuiltImage, reference: string): Promise<Buffer> {
  const { gunzipSync } = await import('node:zlib')
  const archive = pack()
  const parts: Buffer[] = []
  archive.on('data', (part) => parts.push(part as Buffer))
  const done = new Promise<void>((resolve, reject) => archive.on('end', resolve).on('error', reject))
  const configName = `${image.config.digest.slice(7)}.json`
  archive.entry({ name: configName }, image.config.bytes)
  for (const one of image.layers) archive.entry({ name: `${one.diffId.slice(7)}/layer.tar` }, gunzipSync(one.bytes))
  archive.entry(
    { name: 'manifest.json' },
    JSON.stringify([
      {
        Config: configName,
        RepoTags: [reference],
        Layers: image.layers.map((one) => `${one.diffId.slice(7)}/layer.tar`),
      },
    ]),
  )
  archive.finalize()
  await done
  return Buffer.concat(parts)
}
