import {
  addresses,
  type BodyInput,
  type Contract,
  type Operation,
  type ParamsInput,
  type QueryInput,
  type ResponseOf,
} from '@crux/contract'
import { ApiError, readErrorBody } from './api-error.ts'

/** The input of a call of `O`: exactly the parts that its endpoint declares. `query` may be omitted where all of it is optional. */
export type Input<O extends Operation> = PartOf<'params', ParamsInput<O>> &
  PartOf<'query', QueryInput<O>> &
  PartOf<'body', BodyInput<O>>
type PartOf<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : undefined extends T
    ? { [K in Name]?: T }
    : Record<string, never> extends T
      ? { [K in Name]?: T }
      : { [K in Name]: T }

/** Operations without required input may be called with the name alone. */
type Arguments<O extends Operation> =
  Record<string, never> extends Input<O>
    ? [input?: Input<O>, options?: CallOptions]
    : [input: Input<O>, options?: CallOptions]

export type CallOptions = { signal?: AbortSignal; headers?: Record<string, string> }
export type HttpResponse<O extends Operation> = { status: number; headers: Headers; data: ResponseOf<O> }

export type ClientOptions = {
  /** Address of the server without a trailing slash; '' in a page that the server itself serves. */
  baseUrl: string
  /** Sent with every call, e.g. a cookie or an Authorization header outside a browser. */
  headers?: () => Record<string, string>
  /** With the contract, every answer is parsed with its schema, and a mismatch throws; for tests and tools. */
  validate?: Contract
  /** The timeouts for reads and for changes. By default that of the platform, which may be unlimited. */
  timeoutMs?: { read: number; change: number }
  fetch?: typeof fetch
  /** Hears of every call that was answered without an error. */
  onAnswer?: (operation: Operation) => void
}

export type Client = {
  /**
   * Calls an operation and returns its answer.
   *
   * @throws ApiError for every error answer, and with status 0 when the server was not reached
   */
  call: <O extends Operation>(operation: O, ...args: Arguments<O>) => Promise<ResponseOf<O>>
  /** Like `call`, with status and headers in addition to the answer. */
  request: <O extends Operation>(operation: O, ...args: Arguments<O>) => Promise<HttpResponse<O>>
}

export function createClient(options: ClientOptions): Client {
  const request: Client['request'] = async (operation, ...[input, { signal, headers } = {}]) => {
    const parts: AnyInput = input ?? {}
    const { method } = addresses[operation]
    const timeout = options.timeoutMs?.[method === 'GET' ? 'read' : 'change']
    const { answer, body } = await reach(options.fetch ?? fetch, options.baseUrl + getAddress(operation, parts), {
      method,
      signal,
      timeout,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(parts.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers?.(),
        ...headers,
      },
      body: parts.body === undefined ? undefined : JSON.stringify(parts.body),
    })
    if (!answer.ok) throw readErrorBody(answer.status, body, answer.headers.get('x-request-id') ?? undefined)
    const row = options.validate?.[operation]
    const data = row && 'response' in row ? row.response.parse(body) : body
    options.onAnswer?.(operation)
    // The schema of the endpoint is the type of the answer; the server serializes with the same schema.
    return { status: answer.status, headers: answer.headers, data: data as never }
  }
  return { request, call: async (operation, ...args) => (await request(operation, ...args)).data }
}

/** The key under which a query of this operation is cached; with the name alone it matches every query of the operation. */
export function queryKey<O extends Operation>(operation: O, input?: Partial<Input<O>>): readonly unknown[] {
  if (!input) return [operation]
  const { params = {}, query }: AnyInput = input
  return query ? [operation, params, query] : [operation, params]
}

/** Path and query of an operation, as the server mounts it. */
export function getAddress(operation: Operation, input?: AnyInput): string {
  const params = new Map<string, unknown>(Object.entries(input?.params ?? {}))
  const path = addresses[operation].path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params.get(name)
    if (value === undefined || value === '') throw new TypeError(`${operation} needs the parameter ${name}`)
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input?.query ?? {})) {
    if (value !== undefined && value !== null)
      query.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  return query.size > 0 ? `${path}?${query}` : path
}

/** Input without the types of its operation, for internal use in this file. */
type AnyInput = { params?: unknown; query?: unknown; body?: unknown }

type Sent = RequestInit & { timeout?: number; signal?: AbortSignal }

/** Reads the answer with its body, because a connection may also be lost or stop during the body. */
async function reach(send: typeof fetch, url: string, { timeout, signal, ...init }: Sent) {
  const late = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
  const signals = [signal, late].filter((one) => one !== undefined)
  try {
    const answer = await send(url, { ...init, signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0] })
    return { answer, body: await readBody(answer) }
  } catch (cause) {
    if (signal?.aborted) throw cause
    if (late?.aborted) {
      // The change may have been made even if its answer was lost.
      const error = init.method === 'GET' ? 'noAnswer' : 'unknownOutcome'
      throw new ApiError({ status: 0, error, description: 'No answer in time' }, { cause })
    }
    throw new ApiError({ status: 0, error: 'networkError', description: 'Network Error' }, { cause })
  }
}

/** Empty answers are undefined. Other types than JSON are returned as text, which readErrorBody converts to UNKNOWN. */
async function readBody(answer: Response): Promise<unknown> {
  const text = await answer.text()
  if (text === '') return undefined
  if (!/json/.test(answer.headers.get('content-type') ?? '')) return text
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
