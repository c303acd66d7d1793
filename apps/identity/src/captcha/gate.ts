import type { App } from '../app/app.ts'
import type { Flow } from '../db/schema.ts'
import { type Fields, textField, transientPayload } from '../http/body.ts'
import type { RequestContext } from '../http/request-context.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { type Message, messages } from '../ui/messages.ts'

const tokenLengthMax = 8_192

/** The reason to refuse a submit of a flow that requires the captcha; undefined when the submit may continue. */
export async function captchaRefusal(app: App, ctx: RequestContext, fields: Fields): Promise<Message | undefined> {
  if (!app.captcha) return undefined
  const token = textField(transientPayload(fields), 'captcha_token')
  if (token === '') return messages.captchaMissing()
  if (token.length > tokenLengthMax) return messages.captchaWrong()
  await app.limiter.take('client', ctx.clientAddress)
  const verdict = await app.captcha.verify(token, ctx.clientAddress)
  if (verdict === 'wrong') return messages.captchaWrong()
  await app.limiter.refund('client', ctx.clientAddress)
  return verdict === 'unavailable' ? messages.captchaUnavailable() : undefined
}

/** A user who passed the check requested the code that is on its way. Other steps of the same flow are not covered by that check. */
export const awaitsCode = (flow: Pick<Flow, 'state'>, method: string): boolean =>
  method === 'code' && flow.state !== 'choose_method'

/** Whether so many sign-ins with this address have failed that the next one requires the captcha. */
export async function hasFailedOften(app: App, fields: Fields): Promise<boolean> {
  const subject = getSubject(fields)
  return app.captcha !== undefined && subject !== '' && (await app.limiter.isReached('captcha', subject))
}

/** Counts failures for unknown addresses too, so that the captcha does not reveal which addresses have an account. */
export async function recordFailure(app: App, fields: Fields): Promise<void> {
  const subject = getSubject(fields)
  if (app.captcha && subject !== '') await app.limiter.note('captcha', subject)
}

export async function forgetFailures(app: App, fields: Fields): Promise<void> {
  if (app.captcha) await app.limiter.reset('captcha', getSubject(fields))
}

const getSubject = (fields: Fields) =>
  normalizeIdentifier(textField(fields, 'identifier') || textField(fields, 'password_identifier'))
