import { Agent, request } from 'node:http'
import { type ImageSpec, saveImage } from './image.ts'

const socketPath = process.env.DOCKER_HOST?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock'
const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/**
 * One call of the Engine API over its socket, independent of the drivers under test.
 *
 * @throws for a status of 400 and above
 */
export function engine<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const call = request(
      {
        socketPath,
        agent,
        method,
        path: `/v1.41${path}`,
        headers: payload ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) } : {},
      },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString()
          if ((answer.statusCode ?? 500) >= 400) reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`))
          // A progress stream is one JSON text per line, so it is returned as text.
          else resolve((!isOneJson(text) ? text : JSON.parse(text)) as T)
        })
        answer.on('error', reject)
      },
    )
    call.on('error', reject)
    call.end(payload)
  })
}

const isOneJson = (text: string) => /^[{[]/.test(text) && !text.trim().includes('}\r\n{')

export type CreateOptions = {
  Image: string
  Cmd?: string[]
  HostConfig?: unknown
  ExposedPorts?: unknown
  Labels?: Record<string, string>
  NetworkingConfig?: unknown
}

export const raw = {
  create: async (name: string, options: CreateOptions) =>
    (await engine<{ Id: string }>('POST', `/containers/create?name=${name}`, options)).Id,
  start: (id: string) => engine('POST', `/containers/${id}/start`),
  stop: (id: string) => engine('POST', `/containers/${id}/stop?t=10`),
  inspect: (id: string) => engine<{ State: { Running: boolean } }>('GET', `/containers/${id}/json`),
  remove: (id: string) => engine('DELETE', `/containers/${id}?force=true&v=true`),
  list: (label: string) =>
    engine<{ Id: string; Names: string[] }[]>('GET', `/containers/json?all=true&filters=${labelled(label)}`),
  networks: (label: string) => engine<{ Id: string }[]>('GET', `/networks?filters=${labelled(label)}`),
  removeNetwork: (id: string) => engine('DELETE', `/networks/${id}`),
}

const labelled = (label: string) => encodeURIComponent(JSON.stringify({ label: [label] }))

/**
 * Deletes every container with the label, and the networks that have it. Prefixes of tests are used once, so their networks would exhaust the address
 * pools of the engine. Networks are deleted one by one, because the engine prunes for one caller at a time; a network in use stays.
 */
export async function removeContainers(label: string): Promise<void> {
  for (const { Id } of await raw.list(label)) await raw.remove(Id)
  for (const { Id } of await raw.networks(label)) await raw.removeNetwork(Id).catch(() => undefined)
}

/** Deletes the images that were pulled from a registry of a test. An image that other references or containers share stays with them. */
export async function removeImages(registryHost: string): Promise<void> {
  const images = await engine<{ RepoTags: string[] | null; RepoDigests: string[] | null }[]>('GET', '/images/json')
  const references = images.flatMap(({ RepoTags, RepoDigests }) => [...(RepoTags ?? []), ...(RepoDigests ?? [])])
  for (const reference of references.filter((one) => one.startsWith(`${registryHost}/`)))
    await engine('DELETE', `/images/${reference}`).catch(() => undefined)
}

/** Loads an image into the engine under this reference, without a registry. */
export async function loadImage(reference: string, spec: ImageSpec): Promise<void> {
  const tar = await saveImage(spec, reference)
  await new Promise<void>((resolve, reject) => {
    const call = request(
      {
        socketPath,
        agent,
        method: 'POST',
        path: '/v1.41/images/load?quiet=true',
        headers: { 'content-type': 'application/x-tar', 'content-length': tar.length },
      },
      (answer) => {
        answer.resume()
        answer.on('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error(`load of ${reference}: ${answer.statusCode}`)),
        )
      },
    )
    call.on('error', reject)
    call.end(tar)
  })
}
