import { Agent as HttpAgent, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { getToken, isLoopbackName, manifestTypes, parseChallenge, tokenUrl } from '@crux/rules'
import { guarded } from '@crux/service-kit'
import type { RegistryCredentials } from './image-reference.ts'
import { parseImage, registryAddress } from './image-reference.ts'

/** Timeout of one request. */
const timeoutMs = 5_000
/** For how long a registry that this process cannot reach is left to the engine. */
const unreachableMs = 10 * 60_000
const tokenBytesMax = 64 * 1_024
/** How many registries are remembered; a node has a handful. */
const registriesMax = 200

/** The protocol and authentication that the last answers of a registry required. */
interface Registry {
  protocol?: 'https:' | 'http:'
  wantsBasic?: boolean
  leftAloneUntil?: number
}

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

interface Question {
  host: string
  repository: string
  reference: string
  auth: RegistryCredentials | undefined
  signal: AbortSignal
}

/** The digests that registries grant to credentials, asked by this process itself. */
export class RegistryDigests {
  readonly #agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) }
  readonly #registries = new Map<string, Registry>()

  /**
   * Asks a registry for the digest of a tag or digest that it grants to the credentials: one request over a connection that is kept, where
   * the engine opens a new one and reads the manifests as well.
   *
   * @returns undefined where the digest cannot be determined, for whatever reason: the engine may have another way to the registry, e.g. a
   *   proxy or a certificate of its own, and its answer has the reason if it has none
   */
  async find(
    { name, reference }: { name: string; reference: string },
    auth: RegistryCredentials | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (!isReference(name, reference)) return undefined
    const { host, repository } = registryAddress(name)
    if ((this.#registries.get(host)?.leftAloneUntil ?? 0) > Date.now()) return undefined
    try {
      return await this.#findDigest({ host, repository, reference, auth, signal })
    } catch {
      if (!signal.aborted) this.#remember(host, { leftAloneUntil: Date.now() + unreachableMs })
      return undefined
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  async #findDigest(question: Question): Promise<string | undefined> {
    const { host, repository, auth, signal } = question
    const basic = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
    const isBasicKnown = basic !== undefined && this.#registries.get(host)?.wantsBasic === true
    const first = await this.#ask(question, isBasicKnown ? basic : undefined)
    if (first.status !== 401) return getDigest(first)
    const challenge = parseChallenge(first.headers['www-authenticate'])
    if (challenge?.scheme === 'basic') {
      if (!basic || isBasicKnown) return undefined
      this.#remember(host, { wantsBasic: true })
      return getDigest(await this.#ask(question, basic))
    }
    if (challenge?.scheme !== 'bearer') return undefined
    const target = { hostname: toHostname(host), isPlain: first.protocol === 'http:' }
    const scope = `repository:${repository}:pull`
    const realm = tokenUrl(challenge, target, { hasCredentials: basic !== undefined, scope })
    if (!realm.ok) return undefined
    const answer = await this.#send(realm.url, 'GET', basic ? { authorization: basic } : {}, signal)
    const token = answer.status === 200 ? getToken(JSON.parse(answer.body)) : undefined
    return token && getDigest(await this.#ask(question, `Bearer ${token}`))
  }

  /** Tries https first; a registry on loopback may use http, as the engine allows it there. */
  async #ask({ host, repository, reference, signal }: Question, authorization: string | undefined) {
    const path = `/v2/${repository}/manifests/${reference}`
    const headers = { accept: manifestTypes.join(', '), ...(authorization && { authorization }) }
    const known = this.#registries.get(host)?.protocol
    const protocols = isLoopbackName(toHostname(host)) ? (['https:', 'http:'] as const) : (['https:'] as const)
    let cause: unknown
    for (const protocol of known ? [known] : protocols) {
      try {
        const answer = await this.#send(new URL(`${protocol}//${host}${path}`), 'HEAD', headers, signal)
        this.#remember(host, { protocol })
        return { protocol, ...answer }
      } catch (error) {
        cause = error
        signal.throwIfAborted()
      }
    }
    throw cause
  }

  #remember(host: string, what: Registry): void {
    if (this.#registries.size >= registriesMax && !this.#registries.has(host)) this.#registries.clear()
    this.#registries.set(host, { ...this.#registries.get(host), ...what })
  }

  #send(
    url: URL,
    method: 'HEAD' | 'GET',
    headers: OutgoingHttpHeaders,
    signal: AbortSignal,
    isRepeated = false,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const isPlain = url.protocol === 'http:'
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      const options = { method, headers, signal: limit, agent: this.#agents[isPlain ? 'http:' : 'https:'] }
      const request = (isPlain ? requestHttp : requestHttps)(
        url,
        options,
        guarded('the answer of a registry', (response) => readAnswer(response).then(resolve, reject)),
      )
      request.on(
        'error',
        guarded('a failed question to a registry', (error: Error) => {
          // The registry closed the kept connection just when it was used again.
          if (request.reusedSocket && !isRepeated && !limit.aborted)
            this.#send(url, method, headers, signal, true).then(resolve, reject)
          else reject(error)
        }),
      )
      request.end()
    })
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  let body = ''
  response.setEncoding('utf8')
  for await (const chunk of response) {
    body += chunk
    if (body.length > tokenBytesMax) throw new Error('the answer is too long')
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body }
}

/** Tags come from members: one that is none could lead to another path of the registry. */
function isReference(name: string, reference: string): boolean {
  try {
    const { tag, digest, ...parsed } = parseImage(`${name}${reference.startsWith('sha256:') ? '@' : ':'}${reference}`)
    return parsed.name === name && (digest ?? tag) === reference
  } catch {
    return false
  }
}

const toHostname = (host: string) => new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '')

function getDigest({ status, headers }: { status: number; headers: IncomingMessage['headers'] }): string | undefined {
  const digest = headers['docker-content-digest']
  const type = String(headers['content-type'] ?? '').split(';')[0]
  const isManifest = manifestTypes.some((known) => known === type)
  return status === 200 && isManifest && typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest)
    ? digest
    : undefined
}
