import { Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { getToken, isLoopbackName, parseChallenge, tokenUrl } from '@crux/rules'
import { type RegistryCredentials, registryAddress } from '../engines/images/image-reference.ts'
import { getJudged } from '../net/get-judged.ts'
import { RegistryError, toConnectionError, toStatusError } from './registry-error.ts'

const redirectsMax = 5
const tokenBytesMax = 64 * 1_024

/** Reads from one repository of a registry (OCI distribution specification). Errors are RegistryErrors. */
export class RegistryClient {
  readonly host: string
  readonly #repository: string
  readonly #auth: RegistryCredentials | undefined
  readonly #signal: AbortSignal
  readonly #agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) }
  #base: URL | undefined
  #authorization: string | undefined

  /** @param name of the image, without tag and digest */
  constructor(name: string, auth: RegistryCredentials | undefined, signal: AbortSignal) {
    const { host, repository } = registryAddress(name)
    this.host = host
    this.#repository = repository
    this.#auth = auth
    this.#signal = signal
  }

  /**
   * @param path below the repository: "blobs/sha256:..."
   * @param what as it is called in messages
   * @returns the answer of status 200, at the pace of the caller
   */
  async get(path: string, accept: string, what: string): Promise<IncomingMessage> {
    let answer = await this.#ask(path, accept)
    if (answer.statusCode === 401) {
      answer.resume()
      this.#authorization = await this.#authorize(answer, what)
      if (this.#authorization !== undefined) answer = await this.#ask(path, accept)
    }
    if (answer.statusCode === 200) return answer
    answer.destroy()
    throw toStatusError(answer.statusCode ?? 0, this.host, what)
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  /** Tries https first; a registry on loopback may use http. */
  async #ask(path: string, accept: string): Promise<IncomingMessage> {
    const isLoopback = isLoopbackName(toHostname(new URL(`https://${this.host}`)))
    const protocols = isLoopback ? ['https:', 'http:'] : ['https:']
    let cause: unknown
    for (const protocol of this.#base ? [this.#base.protocol] : protocols) {
      const base = new URL(`${protocol}//${this.host}`)
      try {
        const answer = await this.#follow(new URL(`/v2/${this.#repository}/${path}`, base), accept)
        this.#base = base
        return answer
      } catch (error) {
        this.#signal.throwIfAborted()
        cause = error
      }
    }
    throw cause
  }

  /** Content may be elsewhere. Credentials stay with the registry, and nobody leads away from an encrypted connection. */
  async #follow(start: URL, accept: string): Promise<IncomingMessage> {
    let url = start
    for (let redirects = 0; ; redirects += 1) {
      const isOwn = url.origin === start.origin
      const headers = { accept, ...(isOwn && this.#authorization && { authorization: this.#authorization }) }
      const answer = await this.#send(url, headers)
      const { location } = answer.headers
      if (![301, 302, 303, 307, 308].includes(answer.statusCode ?? 0) || location === undefined) return answer
      answer.resume()
      if (redirects === redirectsMax || !URL.canParse(location, url.href))
        throw new RegistryError(`the registry ${this.host} leads nowhere`)
      const next = new URL(location, url)
      if (next.protocol !== 'https:' && !(next.protocol === 'http:' && start.protocol === 'http:'))
        throw new RegistryError(`the registry ${this.host} leads to an address without encryption`)
      url = next
    }
  }

  /** @returns undefined where there are no credentials for what is asked */
  async #authorize({ headers }: IncomingMessage, what: string): Promise<string | undefined> {
    const auth = this.#auth
    const basic = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
    const challenge = parseChallenge(headers['www-authenticate'])
    if (challenge?.scheme === 'basic') return basic
    if (challenge?.scheme !== 'bearer' || !this.#base) return undefined
    const target = { hostname: toHostname(this.#base), isPlain: this.#base.protocol === 'http:' }
    const scope = `repository:${this.#repository}:pull`
    const realm = tokenUrl(challenge, target, { hasCredentials: basic !== undefined, scope })
    if (!realm.ok) throw new RegistryError(`the registry ${this.host} sends for its token to ${realm.problem}`)
    const answer = await this.#send(realm.url, basic ? { authorization: basic } : {})
    const text = (await readAll(answer, tokenBytesMax, this.host)).toString('utf8')
    if (answer.statusCode !== 200) throw toStatusError(answer.statusCode ?? 0, this.host, what)
    const token = readToken(text)
    return token && `Bearer ${token}`
  }

  #send(url: URL, headers: Record<string, string>): Promise<IncomingMessage> {
    return getJudged(url, {
      agent: this.#agents[url.protocol === 'http:' ? 'http:' : 'https:'],
      headers,
      signal: this.#signal,
      what: 'a registry',
      toAddressError,
      toConnectionError: (error) => toConnectionError(error, url.host),
    })
  }
}

const toHostname = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

const toAddressError = (address: string) => new RegistryError(`${address} is not an address of a registry`)

function readToken(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? getToken({ ...answer }) : undefined
  } catch {
    return undefined
  }
}

/** @throws RegistryError for an answer that is too long */
export async function readAll(answer: IncomingMessage, bytesMax: number, host: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of answer) {
      chunks.push(chunk)
      size += chunk.length
      if (size > bytesMax) throw new RegistryError(`the registry ${host} answers too much`)
    }
  } catch (error) {
    throw toConnectionError(error, host)
  }
  return Buffer.concat(chunks)
}
