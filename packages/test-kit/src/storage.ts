import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AwsV4Signer } from 'aws4fetch'
import { freePort } from './free-ports.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)
const source = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0'
const buildMsMax = 600_000
/** The binary is ignored by git and kept between runs, because building it takes minutes. */
const binary = fileURLToPath(new URL('../../../node_modules/.cache/crux/versitygw-1.8.0', import.meta.url))

export const storageAccount = { accessKey: 'crux-tests', secretKey: 'storage-secret' } as const

export type TestStorage = {
  url: string
  host: string
  createBucket: (name: string) => Promise<void>
  put: (bucket: string, key: string, body: string | Uint8Array) => Promise<void>
  /** Writes many objects with one modification time directly into the directory that the server serves. */
  fill: (bucket: string, objects: Readonly<Record<string, string>>, modifiedAt: Date) => Promise<void>
  remove: (bucket: string, key: string) => Promise<void>
  /** Sends any signed request that the other functions do not support. Path and query are those of the S3 API. */
  request: (method: string, path: string, body?: string | Uint8Array) => Promise<Response>
  /** Stops the process; its data is kept, and `start` restarts it on the same port. */
  stop: () => Promise<void>
  start: () => Promise<void>
  /** Stops it permanently and deletes its files. */
  dispose: () => Promise<void>
}

/** The reason why tests with a real S3 server are skipped here; undefined where they run. */
export const storageMissing = (): string | undefined =>
  existsSync(binary)
    ? undefined
    : 'needs versitygw 1.8.0, which npm test builds where Go is found (alone: node packages/test-kit/scripts/build-storage.ts)'

/** Starts a real S3 server (versitygw) with a directory of its own on a free loopback port. Callers check `storageMissing` first. */
export async function startStorage(): Promise<TestStorage> {
  const directory = await mkdtemp(join(tmpdir(), 'crux-storage-'))
  // Not every file system supports extended attributes, so the metadata of objects is stored in a directory beside them.
  const [data, notes] = [join(directory, 'data'), join(directory, 'notes')]
  await Promise.all([mkdir(data), mkdir(notes)])
  const port = await freePort()
  const host = `localhost:${port}`
  const url = `http://${host}`
  let child: ChildProcess | undefined

  async function start() {
    child = spawn(binary, ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', '--sidecar', notes, data], {
      stdio: 'ignore',
      env: { ...process.env, ROOT_ACCESS_KEY: storageAccount.accessKey, ROOT_SECRET_KEY: storageAccount.secretKey },
    })
    await waitFor('the storage answers', async () => (await request('GET', '/')).ok)
  }
  async function stop() {
    const running = child
    child = undefined
    if (!running || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await ended
  }
  async function request(method: string, path: string, body?: string | Uint8Array): Promise<Response> {
    const signer = new AwsV4Signer({
      method,
      url: `${url}${path}`,
      accessKeyId: storageAccount.accessKey,
      secretAccessKey: storageAccount.secretKey,
      service: 's3',
      region: 'us-east-1',
      ...(body !== undefined && { body: Buffer.from(body) }),
    })
    const signed = await signer.sign()
    return fetch(signed.url, { method, headers: signed.headers, body: signed.body ?? null })
  }
  async function requestOk(method: string, path: string, body?: string | Uint8Array) {
    const answer = await request(method, path, body)
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  const at = (bucket: string, key: string) => `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`

  await start()
  return {
    url,
    host,
    createBucket: (name) => requestOk('PUT', `/${name}`),
    put: (bucket, key, body) => requestOk('PUT', at(bucket, key), body),
    async fill(bucket, objects, modifiedAt) {
      for (const [key, body] of Object.entries(objects)) {
        const path = join(data, bucket, key)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, body)
        await utimes(path, modifiedAt, modifiedAt)
      }
    },
    remove: (bucket, key) => requestOk('DELETE', at(bucket, key)),
    request,
    start,
    stop,
    async dispose() {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Builds the S3 server if it does not exist. This takes minutes when Go downloads and compiles everything, so tests do not call it.
 *
 * @returns the reason why it cannot be built: no Go, or unreachable sources
 */
export async function buildStorage(): Promise<string | undefined> {
  if (existsSync(binary)) return undefined
  const directory = `${binary}-${process.pid}`
  try {
    await mkdir(directory, { recursive: true })
    const env = { ...process.env, GOBIN: directory, GOFLAGS: '-buildvcs=false' }
    await run('go', ['install', source], { env, timeout: buildMsMax })
    await rename(join(directory, 'versitygw'), binary)
    return undefined
  } catch (error) {
    const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string }
    return code === 'ENOENT' ? 'there is no Go' : (stderr?.trim().split('\n').at(-1) ?? message)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
