import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-ports.ts'
import { buildImage, type ImageSpec } from './image.ts'
import { waitFor } from './wait.ts'

/** The account of registries with credentials; the bcrypt line below is of this password. */
export const registryAccount = { user: 'crux', token: 'registry-secret' } as const
const htpasswd = 'crux:$2y$05$y4dCQg3BLmiYUmjjOuKCh.q/LbO8XP.QVR/o70COZgZSzr1GvkIYC'

export type Registry = {
  /** `localhost:5001`: the prefix of image names. */
  host: string
  url: string
  /**
   * Pushes an image into the registry without an engine.
   *
   * @returns the digest of its manifest
   */
  push: (name: string, tag: string, image: ImageSpec) => Promise<string>
  deleteTag: (name: string, tag: string) => Promise<void>
  /** Stops the process; pushed images are kept, and `start` restarts it on the same port. */
  stop: () => Promise<void>
  start: () => Promise<void>
  /** Adds to its configuration and restarts it. */
  configure: (yaml: string) => Promise<void>
  /** Stops it permanently and deletes its files. */
  remove: () => Promise<void>
}

/** Starts Debian's docker-registry on a free loopback port with a directory of its own. */
export async function startRegistry(options: { auth?: boolean } = {}): Promise<Registry> {
  const directory = await mkdtemp(join(tmpdir(), 'crux-registry-'))
  const port = await freePort()
  const host = `localhost:${port}`
  const auth = options.auth
    ? `auth:\n  htpasswd:\n    realm: crux tests\n    path: ${join(directory, 'htpasswd')}\n`
    : ''
  await writeFile(join(directory, 'htpasswd'), `${htpasswd}\n`)
  const config = `version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n    rootdirectory: ${join(directory, 'data')}\n  delete:\n    enabled: true\nhttp:\n  addr: 127.0.0.1:${port}\n${auth}`
  await writeFile(join(directory, 'config.yml'), config)
  const headers: Record<string, string> = options.auth
    ? { authorization: `Basic ${Buffer.from(`${registryAccount.user}:${registryAccount.token}`).toString('base64')}` }
    : {}
  const base = `http://127.0.0.1:${port}/v2`
  let child: ChildProcess | undefined

  async function start() {
    child = spawn('docker-registry', ['serve', join(directory, 'config.yml')], { stdio: 'ignore' })
    await waitFor('the registry answers', async () => (await fetch(`${base}/`, { headers })).ok)
  }
  async function stop() {
    const running = child
    child = undefined
    if (!running || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await ended
  }
  /** By repository and digest. The registry refuses a manifest while a blob of it is uploaded a second time. */
  const uploads = new Map<string, Promise<void>>()
  function upload(name: string, digest: string, bytes: Buffer): Promise<void> {
    const key = `${name}@${digest}`
    const running = uploads.get(key) ?? uploadOnce(name, digest, bytes).finally(() => uploads.delete(key))
    uploads.set(key, running)
    return running
  }
  async function uploadOnce(name: string, digest: string, bytes: Buffer) {
    const known = await fetch(`${base}/${name}/blobs/${digest}`, { method: 'HEAD', headers })
    if (known.ok) return
    const begun = await fetch(`${base}/${name}/blobs/uploads/`, { method: 'POST', headers })
    const location = new URL(begun.headers.get('location') ?? '', base)
    location.searchParams.set('digest', digest)
    const put = await fetch(location, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(bytes),
    })
    if (!put.ok) throw new Error(`upload of ${digest}: ${put.status} ${await put.text()}`)
  }
  await start()
  return {
    host,
    url: `http://${host}`,
    async push(name, tag, image) {
      const built = await buildImage(image)
      for (const one of [...built.layers, built.config]) await upload(name, one.digest, one.bytes)
      const put = await fetch(`${base}/${name}/manifests/${tag}`, {
        method: 'PUT',
        headers: { ...headers, 'content-type': built.manifestType },
        body: new Uint8Array(built.manifest.bytes),
      })
      if (!put.ok) throw new Error(`manifest of ${name}:${tag}: ${put.status} ${await put.text()}`)
      return built.manifest.digest
    },
    async deleteTag(name, tag) {
      const head = await fetch(`${base}/${name}/manifests/${tag}`, {
        method: 'HEAD',
        headers: { ...headers, accept: 'application/vnd.docker.distribution.manifest.v2+json' },
      })
      await fetch(`${base}/${name}/manifests/${head.headers.get('docker-content-digest')}`, {
        method: 'DELETE',
        headers,
      })
    },
    start,
    stop,
    async configure(yaml) {
      await stop()
      await writeFile(join(directory, 'config.yml'), `${config}${yaml}`)
      await start()
    },
    async remove() {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
