import { CruxError, type ErrorCode } from '@crux/contract'
import type { App } from '../context.ts'
import type { Input } from '../http/handlers.ts'
import type { Browser, FlowAnswer } from '../identity/flows.ts'

export type RelayedRequest = Pick<Input<'auth.logout'>, 'headers' | 'address' | 'reply'>

/** An answer of the identity service that is passed on unchanged, in addition to the fields of our own errors. */
export class RelayedRefusal extends CruxError {
  readonly relayedStatus: number
  readonly relayed: Record<string, unknown>

  constructor(status: number, body: unknown) {
    const relayed = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
    super(codeOf(status), { description: messageOf(relayed), value: relayed })
    this.relayedStatus = status
    this.relayed = relayed
  }
}

type Options = {
  /** The request signs in; a browser that is signed in already gets an error that says so. */
  signsIn?: boolean
  /**
   * Runs when the identity service accepted, before the browser gets the response: a session that must not be used yet
   * is not sent. Returns the next address of the browser, unless the identity service's is used.
   */
  agreed?: (answer: FlowAnswer, browser: Browser) => Promise<string | undefined>
}

/**
 * Sends a request on behalf of the browser and passes the cookies on. 422 means that the browser must go elsewhere: 201
 * with Location.
 *
 * @throws RelayedRefusal with the flow in the body and in `value`, so that a page shows `ui.messages` and those of each
 *   node
 */
export async function relay(
  app: App,
  request: RelayedRequest,
  ask: (browser: Browser) => Promise<FlowAnswer>,
  options: Options = {},
) {
  const { cookie } = request.headers
  const text = Array.isArray(cookie) ? cookie.join('; ') : cookie
  const userAgent = request.headers['user-agent']
  const browser = {
    cookie: text,
    address: request.address,
    userAgent: Array.isArray(userAgent) ? userAgent[0] : userAgent,
  }
  const answer = await ask(browser)
  const { status, body, setCookie, location } = answer
  const flow = (body ?? {}) as { redirect_browser_to?: unknown; refresh?: unknown }
  const elsewhere =
    status === 422 && typeof flow.redirect_browser_to === 'string' ? flow.redirect_browser_to : undefined
  const next = status < 300 || elsewhere ? ((await options.agreed?.(answer, browser)) ?? elsewhere) : undefined
  if (setCookie.length > 0) request.reply.header('set-cookie', setCookie)
  request.reply.header('cache-control', 'no-store')
  if (next !== undefined) {
    request.reply.status(201)
    request.reply.header('location', next)
    return body
  }
  if (status >= 200 && status < 300) return body
  // An expired verification is answered with the address of a new flow; the other flows answer 410.
  if (status === 303 && location)
    throw new RelayedRefusal(410, { use_flow_id: new URL(location).searchParams.get('id') })
  // The page was open before the person signed in elsewhere. A deliberate second sign-in has a refresh flow.
  const tooLate = options.signsIn && flow.refresh !== true && (status === 400 || status === 403)
  if (tooLate && (await app.identity.session({ cookie: text })))
    throw new CruxError('alreadyExists', { property: 'session', description: 'You are signed in already.' })
  throw new RelayedRefusal(status, body)
}

function codeOf(status: number): ErrorCode {
  if (status >= 500) return 'serviceUnavailable'
  const codes: Record<number, ErrorCode> = {
    401: 'unauthorized',
    403: 'forbidden',
    404: 'notFound',
    409: 'alreadyExists',
    410: 'notFound',
    413: 'payloadTooLarge',
    429: 'tooManyRequests',
  }
  return codes[status] ?? 'invalidArgument'
}

type Message = { text?: unknown }
type Shown = {
  ui?: { messages?: Message[]; nodes?: { messages?: Message[] }[] }
  error?: { reason?: unknown; message?: unknown }
}

/** The first message of the flow; its fields may have more. */
function messageOf(body: Shown): string | undefined {
  const all = [...(body.ui?.messages ?? []), ...(body.ui?.nodes ?? []).flatMap((node) => node.messages ?? [])]
  const text = [...all.map((message) => message.text), body.error?.reason, body.error?.message]
  return text.find((entry): entry is string => typeof entry === 'string' && entry !== '')
}
