import { createHmac } from 'node:crypto'
import type { NotificationType } from '@crux/contract'
import { OutboundError, type OutboundErrorCode, withinTime } from '@crux/service-kit'
import { UndeliverableError } from '@crux/service-kit/mail'
import type { App } from '../context.ts'
import { notificationMail } from '../mails/index.ts'
import { openSecret, openUrl } from './address.ts'
import { type ClaimedDelivery, isRecipient, type Target } from './delivery-store.ts'
import { judgeStatus, type Outcome } from './outcome.ts'
import { type Content, toPayload } from './payloads.ts'

const timeoutMs = 10_000
/** A mail server has several steps, each with a limit of its own. */
const mailMs = 40_000
/** What is read of an answer. It is stored nowhere. */
const answerBytesMax = 1_048_576

type Sent = Pick<ClaimedDelivery, 'id' | 'event' | 'text' | 'data' | 'recipientId'>

/**
 * Makes one attempt. If this process ends after it and before the result is stored, the message is sent again with the
 * same id of its delivery.
 */
export async function send(app: App, target: Target, delivery: Sent): Promise<Outcome> {
  const { at, page, details } = delivery.data
  const content: Content = {
    deliveryId: delivery.id,
    event: delivery.event,
    at,
    team: target.team,
    text: delivery.text,
    url: new URL(page === null ? `/teams/${target.team.id}` : `/${target.team.slug}${page}`, app.config.url).href,
    details,
  }
  return target.type === 'email'
    ? sendMail(app, target, content, delivery.recipientId)
    : sendRequest(app, { ...target, type: target.type }, content)
}

async function sendRequest(
  app: App,
  target: Target & { type: Exclude<NotificationType, 'email'> },
  content: Content,
): Promise<Outcome> {
  const url = openUrl(app, { id: target.id, sealedUrl: target.url })
  if (url === undefined) return { kind: 'final', statusCode: null, error: 'unreadable address' }
  const body = JSON.stringify(toPayload(target.type, content))
  const signed = target.type === 'webhook' ? sign(app, target, content, body) : {}
  if (!signed) return { kind: 'final', statusCode: null, error: 'unreadable secret' }
  try {
    const answer = await app.outbound.request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed },
      body,
      timeoutMs,
      maxBytes: answerBytesMax,
    })
    const { 'retry-after': retryAfter } = answer.headers
    return judgeStatus(getStatus(target, answer), retryAfter)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const [kind, text] = outboundErrors[error.code]
    return { kind, statusCode: null, error: text }
  }
}

/** A connector of Teams answers 200 also when it sends too many messages, and says so in the body. */
const getStatus = ({ type }: Target, { status, body }: { status: number; body: Buffer }): number =>
  type === 'teams' && status === 200 && /HTTP error 429/i.test(body.toString('latin1')) ? 429 : status

const outboundErrors: Record<OutboundErrorCode, ['retry' | 'doubtful' | 'final', string]> = {
  invalidUrl: ['doubtful', 'refused address'],
  refused: ['doubtful', 'refused address'],
  unresolved: ['retry', 'unknown host'],
  unreachable: ['retry', 'connection'],
  tls: ['retry', 'certificate'],
  timeout: ['retry', 'timeout'],
  // The receiver has the message: it would get it again.
  tooLarge: ['final', 'too long an answer'],
  redirects: ['doubtful', 'redirect'],
  protocol: ['retry', 'connection'],
}

/** @returns undefined when the secret cannot be decrypted */
function sign(
  app: App,
  target: Target,
  { deliveryId, event }: Content,
  body: string,
): Record<string, string> | undefined {
  const headers = { 'x-crux-event': event, 'x-crux-delivery': deliveryId }
  const timestamp = String(Math.floor(Date.now() / 1_000))
  if (target.secret === null) return { ...headers, 'x-crux-timestamp': timestamp }
  const secret = openSecret(app, target)
  if (secret === undefined) return undefined
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return { ...headers, 'x-crux-timestamp': timestamp, 'x-crux-signature': `sha256=${signature}` }
}

/** Members who have left the team, or whose address is not verified, get nothing. */
async function sendMail(app: App, target: Target, content: Content, userId: string): Promise<Outcome> {
  const final = (error: string): Outcome => ({ kind: 'final', statusCode: null, error })
  if (!app.mail) return final('no mail server')
  if (!(await isRecipient(app.database.pool, target.id, userId))) return final('no member')
  const account = await app.accounts.find(userId)
  if (!account?.verified) return final('unverified address')
  const mail = notificationMail(account.email, { text: content.text, teamName: target.team.name, link: content.url })
  try {
    const isLate = await withinTime(
      app.mail.send(mail).then(() => false),
      mailMs,
      () => true,
    )
    return isLate ? { kind: 'retry', statusCode: null, error: 'timeout' } : { kind: 'delivered', statusCode: null }
  } catch (err) {
    app.log.warn({ err, notificationId: target.id }, 'the mail of a notification was not sent')
    if (err instanceof UndeliverableError) return final('refused recipient')
    return { kind: 'retry', statusCode: null, error: 'mail server' }
  }
}
