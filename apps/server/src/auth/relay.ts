import { CruxError } from '@crux/contract'
import { getField } from '@crux/service-kit'
import type { App } from '../context.ts'
import { type Input, RelayedRefusal } from '../http/index.ts'
import type { Browser, FlowAnswer, IdentityFlows } from '../identity/index.ts'

export type RelayedRequest = Pick<Input<'auth.logout'>, 'headers' | 'address' | 'reply'>

type Options = {
  /** The request signs in; a browser that is signed in already gets an error that says so. */
  signsIn?: boolean
  /**
   * Runs when the identity service accepted, before the browser gets the response: a session that must not be used yet
   * is not sent. Returns the next address of the browser, unless the identity service's is used.
   */
  agreed?: (answer: FlowAnswer, browser: Browser) => Promise<string | undefined>
}

/** A form of a page, which names its flow. */
type Form = RelayedRequest & { body: { flow: string; csrfToken: string } }

/** Submits a form to its flow. @throws RelayedRefusal as `relay` */
export const submit = (
  app: App,
  flow: IdentityFlows['login'],
  { body, ...request }: Form,
  fields: Record<string, unknown>,
  options?: Options,
) => relay(app, request, (browser) => flow(body.flow, { csrf_token: body.csrfToken, ...fields }, browser), options)

/**
 * The response of the page's captcha, in the field where the identity service reads it; Ory Kratos accepts and ignores
 * the field.
 */
export const toCaptcha = ({ captcha }: { captcha?: string | null | undefined }) =>
  captcha ? { transient_payload: { captcha_token: captcha } } : {}

/** The traits of an identity, from the fields of a form. */
export const toTraits = (body: { email: string; firstName: string; lastName?: string | null | undefined }) => ({
  email: body.email,
  name: { first: body.firstName, last: body.lastName || undefined },
})

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
  const target = getField(body, 'redirect_browser_to')
  const elsewhere = status === 422 && typeof target === 'string' ? target : undefined
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
  // The page was open before the user signed in elsewhere. A deliberate second sign-in has a refresh flow.
  const tooLate = options.signsIn && getField(body, 'refresh') !== true && (status === 400 || status === 403)
  if (tooLate && (await app.identity.session({ cookie: text })))
    throw new CruxError('alreadyExists', { property: 'session', description: 'You are signed in already.' })
  throw new RelayedRefusal(status, body)
}
