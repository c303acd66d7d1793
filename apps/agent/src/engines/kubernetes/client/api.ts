import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https'
import { addAbortSignal } from 'node:stream'
import { errorCode, guarded, withinTime } from '@crux/service-kit'
import { guardedTimer } from '../../../concurrency/pause.ts'
import { Slots } from '../../../concurrency/slots.ts'
import { NoAnswerError, toApiError } from './api-error.ts'

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: Readonly<Record<string, string | undefined>>
  body?: unknown
  contentType?: string
  accept?: string
  signal?: AbortSignal
}

/** An API server and how to sign in to it. */
export interface Access {
  server: URL
  /**
   * Credentials for one request: tokens of service accounts are renewed while the process runs.
   *
   * @param refused credentials that the API server did not accept
   */
  authorize(refused?: RequestOptions): Promise<RequestOptions>
}

/** Longer than an API server under load takes; admission webhooks of the cluster may take 30 s each. */
const answerMs = 40_000
/** How many requests run at once, each on a connection of its own. Streams and probes do not count. */
const requestsMax = 24
const unauthorized = 401
const errorBytesMax = 256 * 1_024
/** A silent stream may be healthy or cut: another request shows which. */
const probeEveryMs = 15_000
const probeAnswerMs = 10_000

export interface ApiOptions {
  probeEveryMs?: number
  probeAnswerMs?: number
  /** Asked right before each change is sent. */
  mayChange?: () => boolean
}

/** HTTP to one API server. Answers are parsed by the callers. */
export class Api {
  readonly #access: Access
  readonly #agent: HttpAgent | HttpsAgent
  readonly #streams = new Set<IncomingMessage>()
  readonly #slots = new Slots(requestsMax)
  /** Requests without an answer so far. */
  readonly #unanswered = new Set<ClientRequest>()
  readonly #options: Required<ApiOptions>
  #probe: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(access: Access, options: ApiOptions = {}) {
    this.#access = access
    this.#options = { probeEveryMs, probeAnswerMs, mayChange: () => true, ...options }
    const pooled = { keepAlive: true, keepAliveMsecs: 15_000, scheduling: 'lifo' } as const
    this.#agent = access.server.protocol === 'http:' ? new HttpAgent(pooled) : new HttpsAgent(pooled)
  }

  /** @returns the parsed JSON of the answer */
  json(request: ApiRequest, timeoutMs = answerMs): Promise<unknown> {
    return this.#slots.run(() => this.#json(request, timeoutMs), request.signal)
  }

  async #json(request: ApiRequest, timeoutMs: number): Promise<unknown> {
    const answer = await this.#send(request, timeoutMs)
    const late = guardedTimer('a slow answer', timeoutMs, () =>
      answer.destroy(new NoAnswerError(`no whole answer within ${timeoutMs / 1_000} s`)),
    )
    try {
      return parse(await readAll(answer))
    } finally {
      clearTimeout(late)
    }
  }

  /**
   * An answer that has no end of its own. It fails with a NoAnswerError when the API server stops answering, also when its connection stays
   * open. The caller destroys it.
   *
   * @param options.isPrompt it begins as soon as the API server answers at all, as a watch does
   */
  async stream(request: ApiRequest, { isPrompt = false } = {}): Promise<IncomingMessage> {
    const answer = await this.#send(request, isPrompt ? this.#options.probeAnswerMs : answerMs)
    answer.socket.setKeepAlive(true, this.#options.probeEveryMs)
    this.#streams.add(answer)
    // Without a listener, an error between the answer and its first read would end the process.
    answer.on(
      'error',
      guarded('a stream of the cluster', () => undefined),
    )
    answer.once(
      'close',
      guarded('a stream of the cluster', () => this.#streams.delete(answer)),
    )
    this.#probeLater()
    return answer
  }

  /** Fails unless the API server answers at all, with whatever. */
  async probe(timeoutMs = this.#options.probeAnswerMs): Promise<void> {
    const answer = await this.#send({ path: '/version' }, timeoutMs, () => undefined)
    answer.resume()
  }

  /** Cuts what is in progress. Later requests fail. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#probe)
    for (const stream of this.#streams) stream.destroy()
    this.#agent.destroy()
  }

  #probeLater(): void {
    if (this.#probe || this.#streams.size === 0) return
    this.#probe = guardedTimer('asking the cluster whether it answers', this.#options.probeEveryMs, async () => {
      const asked = [...this.#streams]
      const unanswered = [...this.#unanswered]
      try {
        if (asked.length > 0) await this.probe()
      } catch {
        const error = new NoAnswerError('the API server has stopped answering')
        for (const waiting of [...asked, ...unanswered]) waiting.destroy(error)
        this.#dropIdle()
      } finally {
        this.#probe = undefined
        this.#probeLater()
      }
    }).unref()
  }

  /** Connections that went silent together would each cost the next request its whole time. */
  #dropIdle(): void {
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  async #send(
    request: ApiRequest,
    timeoutMs: number,
    judge: (answer: IncomingMessage, timeoutMs: number) => unknown = throwUnlessSuccessful,
  ): Promise<IncomingMessage> {
    const authorized = await this.#authorize(timeoutMs)
    let answer = await this.#request(request, authorized, timeoutMs)
    if (answer.statusCode === unauthorized) {
      answer.resume()
      // Credentials may be replaced before they expire.
      answer = await this.#request(request, await this.#authorize(timeoutMs, authorized), timeoutMs)
    }
    await judge(answer, timeoutMs)
    return answer
  }

  #authorize(timeoutMs: number, refused?: RequestOptions): Promise<RequestOptions> {
    return withinTime(this.#access.authorize(refused), timeoutMs, () => {
      throw new NoAnswerError(`no credentials within ${timeoutMs / 1_000} s`)
    })
  }

  async #request(
    {
      method = 'GET',
      path,
      query = {},
      body,
      contentType = 'application/json',
      accept = 'application/json',
      signal,
    }: ApiRequest,
    authorized: RequestOptions,
    timeoutMs: number,
  ): Promise<IncomingMessage> {
    const { server } = this.#access
    const search = new URLSearchParams()
    for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, value)
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const options: RequestOptions = {
      agent: this.#agent,
      ...authorized,
      method,
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port,
      path: `${server.pathname.replace(/\/$/, '')}${path}${search.size > 0 ? `?${search}` : ''}`,
      headers: {
        ...authorized.headers,
        accept,
        'user-agent': 'crux-agent',
        ...(payload !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(payload) }),
      },
    }
    signal?.throwIfAborted()
    // Work that goes on after the end of the agent's turn must not reach the cluster any more.
    if (this.#isClosed) throw new NoAnswerError('the connection is closed')
    if (method !== 'GET' && !this.#options.mayChange())
      throw new NoAnswerError('another agent of this node may work, so nothing is changed any more')
    return new Promise<IncomingMessage>((resolve, reject) => {
      const send = server.protocol === 'http:' ? httpRequest : httpsRequest
      const call = send(
        options,
        guarded('an answer of the cluster', (received: IncomingMessage) => {
          clearTimeout(late)
          this.#unanswered.delete(call)
          signal?.removeEventListener('abort', stop)
          // Node fails the socket without a listener where a request is destroyed between the last byte of its answer and the end.
          if (signal) addAbortSignal(signal, received)
          resolve(received)
        }),
      )
      const stop = guarded('a request that is not wanted any more', () => call.destroy(signal?.reason))
      signal?.addEventListener('abort', stop, { once: true })
      this.#unanswered.add(call)
      const late = guardedTimer('a request without an answer', timeoutMs, () => {
        call.destroy(new NoAnswerError(`no answer within ${timeoutMs / 1_000} s`))
        this.#dropIdle()
      })
      call.once(
        'error',
        guarded('a failed request', (error: Error) => {
          clearTimeout(late)
          signal?.removeEventListener('abort', stop)
          this.#unanswered.delete(call)
          reject(error)
        }),
      )
      call.end(payload)
    })
  }
}

async function throwUnlessSuccessful(answer: IncomingMessage, timeoutMs: number): Promise<void> {
  const code = answer.statusCode ?? 0
  if (code >= 200 && code < 300) return
  const late = guardedTimer('a slow refusal', timeoutMs, () => answer.destroy())
  const text = await readAll(answer, errorBytesMax).catch(() => '')
  clearTimeout(late)
  throw toApiError(code, parseOrUndefined(text))
}

async function readAll(answer: IncomingMessage, bytesMax = Number.POSITIVE_INFINITY): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of answer) {
    // A list of a large cluster has many megabytes, which are not copied twice.
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(part)
    size += bytes.length
    if (size > bytesMax) break
    parts.push(bytes)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A connection that ends in the middle of an answer, or a proxy on the way.
    throw new NoAnswerError('the answer is no JSON')
  }
}

export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether an error is one of the connection rather than of this program. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true
  const code = errorCode(error)
  return /^(E[A-Z_]+|CERT_.*|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|HPE_.*)$/.test(code)
}
