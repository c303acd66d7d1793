import { readFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import Docker from 'dockerode'
import { pack } from 'tar-stream'

/** Images for tests, made from scratch out of one static busybox: no public registry is needed. */
export interface TestImage {
  /** Docker's own words for the configuration: `CMD [...]`, `VOLUME /data`, `HEALTHCHECK ...`. */
  changes?: readonly string[]
  /** Text files by absolute path. */
  files?: Record<string, string>
  /** Files of this machine by their path in the image. */
  copies?: readonly { path: string; source: string }[]
  /** Symbolic links by absolute path, with their target. */
  links?: Record<string, string>
  /** Nothing but the files: no shell, no tools. */
  bare?: boolean
  /** Bytes of noise, for a pull that takes a moment. */
  paddingBytes?: number
}

export const openEngine = () => new Docker({ socketPath: '/var/run/docker.sock' })

/** What busybox is called by in the images. */
const applets = [
  'sh',
  'httpd',
  'sleep',
  'wget',
  'nslookup',
  'nc',
  'cat',
  'echo',
  'seq',
  'date',
  'true',
  'false',
  'ls',
  'touch',
  'usleep',
  'id',
  'env',
  'hostname',
  'kill',
  'yes',
  'head',
  'mkdir',
  'printf',
  'test',
  'awk',
  'stat',
  'df',
  'tail',
]

/** Makes an image and names it; `reference` is `name:tag`. */
export async function makeImage(docker: Docker, reference: string, image: TestImage = {}): Promise<string> {
  const archive = pack()
  if (!image.bare) {
    archive.entry({ name: 'bin/busybox', mode: 0o755 }, await readFile('/bin/busybox'))
    for (const applet of applets) archive.entry({ name: `bin/${applet}`, type: 'symlink', linkname: '/bin/busybox' })
    archive.entry({ name: 'tmp', type: 'directory', mode: 0o1777 })
  }
  for (const [path, text] of Object.entries(image.files ?? {}))
    archive.entry({ name: path.replace(/^\//, ''), mode: 0o755 }, text)
  for (const [path, linkname] of Object.entries(image.links ?? {}))
    archive.entry({ name: path.replace(/^\//, ''), type: 'symlink', linkname })
  for (const { path, source } of image.copies ?? [])
    archive.entry({ name: path.replace(/^\//, ''), mode: 0o755 }, await readFile(source))
  if (image.paddingBytes) {
    const { randomBytes } = await import('node:crypto')
    archive.entry({ name: 'padding' }, randomBytes(image.paddingBytes))
  }
  archive.finalize()
  const [repo, tag] = split(reference)
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    docker.importImage(
      archive.pipe(new PassThrough()),
      { repo, tag, changes: [...(image.changes ?? [])] } as never,
      (error, result) => (error || !result ? reject(error) : resolve(result as NodeJS.ReadableStream)),
    )
  })
  await drain(stream)
  return (await docker.getImage(reference).inspect()).Id
}

/** A web server that answers with the given text on port 8080, and ends at once when it is asked to. */
export function webImage(answer: string, more: TestImage = {}): TestImage {
  return {
    ...more,
    changes: [
      `CMD ["/bin/sh","-c","trap 'exit 0' TERM; httpd -f -p 8080 -h /www & wait"]`,
      'EXPOSE 8080',
      ...(more.changes ?? []),
    ],
    files: { '/www/index.html': answer, ...more.files },
  }
}

/** Pushes to a registry and gives back the digest. */
export async function pushImage(
  docker: Docker,
  reference: string,
  auth?: { username: string; password: string },
): Promise<string> {
  const stream = await docker.getImage(reference).push({ authconfig: auth ?? { username: '', password: '' } })
  let digest = ''
  await drain(stream, (line) => {
    const { aux, error } = JSON.parse(line) as { aux?: { Digest?: string }; error?: string }
    if (error) throw new Error(error)
    digest = aux?.Digest ?? digest
  })
  return digest
}

export async function removeImages(docker: Docker, namePart: string): Promise<void> {
  for (const image of await docker.listImages()) {
    const names = [...(image.RepoTags ?? []), ...(image.RepoDigests ?? [])].filter((name) => name.includes(namePart))
    for (const name of names)
      await docker
        .getImage(name)
        .remove({ force: true })
        .catch(() => undefined)
  }
}

function split(reference: string): [string, string] {
  const colon = reference.lastIndexOf(':')
  return [reference.slice(0, colon), reference.slice(colon + 1)]
}

async function drain(stream: NodeJS.ReadableStream, onLine: (line: string) => void = refuseErrors): Promise<void> {
  let rest = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') onLine(line)
  }
}

function refuseErrors(line: string): void {
  const { error } = JSON.parse(line) as { error?: string }
  if (error) throw new Error(error)
}

/** Loads an archive as `docker load` does. */
export async function loadImage(docker: Docker, path: string): Promise<void> {
  await drain(await docker.loadImage(path))
}
