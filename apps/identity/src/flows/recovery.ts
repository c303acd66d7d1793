import { and, eq } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import { captchaRefusal } from '../captcha/gate.ts'
import { wantsCaptcha } from '../captcha/nodes.ts'
import { newToken } from '../crypto/secrets.ts'
import type { Executor } from '../db/database.ts'
import { type Flow, recoveryAddresses, verifiableAddresses } from '../db/schema.ts'
import { type Fields, textField, transientPayload } from '../http/body.ts'
import { flowDisabled, sessionAlreadyAvailable } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { isEmail } from '../identities/traits.ts'
import { countMail } from '../limits/mails.ts'
import { recoveryCodeMail, recoveryLinkMail } from '../mail/code-mails.ts'
import { currentSession } from '../sessions/current.ts'
import { type Message, messages } from '../ui/messages.ts'
import { formMessage } from '../ui/nodes.ts'
import { answerFlow, answerMessages, redirectToFlow } from './answer.ts'
import { type CodeOwner, newCode, sendCode, takeCode, tryCode } from './codes.ts'
import type { FlowApp } from './offered-methods.ts'
import { completeRecovery } from './recovered.ts'
import { recoveryAddressForm, recoveryCodeForm, recoveryLinkForm } from './recovery-forms.ts'
import { resolveReturnTo } from './return-to.ts'
import { insertFlow, newFlow, updateFlow } from './store.ts'
import { isExpired, readSubmission, requireFlow } from './submission.ts'

const completed = 'The request was already completed successfully and cannot be repeated.'

export async function initRecovery(app: FlowApp, ctx: RequestContext, type: Flow['type']): Promise<unknown> {
  if (!app.sendsMail) throw flowDisabled('Recovery is not possible: this installation sends no mail.')
  resolveReturnTo(ctx.query('return_to'), app.consoleUrl)
  if (await currentSession(app, ctx)) {
    if (type === 'api' || ctx.wantsJson) throw sessionAlreadyAvailable('recovery is not possible')
    return ctx.reply.redirect(`${app.consoleUrl}/`, 302)
  }
  const returnTo = ctx.query('return_to') || null
  return answerFlow(app, ctx, await insertEmptyFlow(app, ctx, { type, requestUrl: ctx.url, returnTo }))
}

export async function submitRecovery(app: FlowApp, ctx: RequestContext): Promise<unknown> {
  const flow = await requireFlow(app, ctx, 'recovery')
  if (isExpired(flow)) return startAgain(app, ctx, flow, messages.recoveryExpired(flow.expiresAt))
  const read = readSubmission(ctx, flow)
  if ('problem' in read) return answerMessages(app, ctx, flow, [messages.generic(read.problem)])
  const { fields, method } = read.submission
  if (flow.state === 'passed_challenge') return startAgain(app, ctx, flow, messages.generic(completed))
  const code = textField(fields, 'code')
  const awaitsCode = flow.state === 'sent_email' && flow.context.methods?.recovery?.by !== 'link'
  if (awaitsCode && (method === 'code' || (method === '' && code !== ''))) {
    // The resend button submits the address without a code.
    if (code === '' && textField(fields, 'email') !== '') return sendTo(app, ctx, flow, fields, 'code')
    return checkCode(app, ctx, flow, code, fields)
  }
  if (method === 'link' || (method === 'code' && flow.state === 'choose_method'))
    return sendTo(app, ctx, flow, fields, method)
  return answerMessages(app, ctx, flow, [messages.recoveryMethodUnknown()], { active: 'default' })
}

/** Signs in once with the link of a mail or one that an administrator passed on. */
export async function openRecoveryLink(app: FlowApp, ctx: RequestContext): Promise<unknown> {
  const flow = await requireFlow(app, ctx, 'recovery')
  const token = ctx.query('token')
  if (token === undefined || token === '' || flow.context.methods?.recovery?.by !== 'link') {
    if (ctx.wantsJson) return answerMessages(app, ctx, flow, [messages.generic('There is no token in the address.')])
    return redirectToFlow(app, ctx, flow)
  }
  await app.limiter.take('client', ctx.clientAddress)
  const use = await app.database.transaction((tx) => takeCode(tx, app, flow, token))
  if (use.kind !== 'right') {
    const late = use.kind === 'expired' ? use.at : isExpired(flow) ? flow.expiresAt : undefined
    const said = late ? messages.recoveryExpired(late) : messages.recoveryLinkInvalid()
    const { returnTo } = flow
    const about = { type: 'browser', requestUrl: ctx.url, returnTo, said, active: 'link' } as const
    return redirectToFlow(app, ctx, await insertEmptyFlow(app, ctx, about))
  }
  await app.limiter.refund('client', ctx.clientAddress)
  return completeRecovery(app, ctx, flow, { ...use, method: 'link_recovery' })
}

/** Gives known and unknown addresses the same answer; a mail is sent only to a known one. */
async function sendTo(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  fields: Fields,
  by: 'code' | 'link',
): Promise<unknown> {
  if (!app.sendsMail) throw flowDisabled('Recovery is not possible: this installation sends no mail.')
  const email = textField(fields, 'email')
  if (!isEmail(email)) {
    const message = email === '' ? messages.required('email') : messages.invalidEmail(email)
    const nodes = recoveryAddressForm('code', formMessage(message, 'email'))
    const change = { active: by, ui: { method: 'POST' as const, messages: [], nodes } }
    return answerFlow(app, ctx, await updateFlow(app.database.db, flow, change), { status: 400 })
  }
  const refusal = wantsCaptcha(flow) ? await captchaRefusal(app, ctx, fields) : undefined
  if (refusal) return answerMessages(app, ctx, flow, [refusal])
  const value = normalizeIdentifier(email)
  await countMail(app, ctx, {
    subject: `recovery ${value}`,
    identityId: async () => (await findOwner(app.database.db, value))?.identityId,
  })
  const changed = await app.database.transaction(async (tx) => {
    const owner = await findOwner(tx, value)
    const mail = (secret: string, usefulUntil: Date) =>
      by === 'code'
        ? recoveryCodeMail({ recipient: value, code: secret, usefulUntil })
        : recoveryLinkMail({ recipient: value, link: recoveryLink(app, flow, secret), usefulUntil })
    await sendCode(tx, app, flow, owner && { owner, mail }, by === 'code' ? newCode() : newToken(''))
    const nodes = by === 'code' ? recoveryCodeForm(email) : recoveryLinkForm(email)
    const said = by === 'code' ? messages.recoveryCodeSent() : messages.recoveryLinkSent()
    return updateFlow(tx, flow, {
      state: 'sent_email',
      active: by,
      attempts: 0,
      context: { ...flow.context, methods: { recovery: { address: value, by } } },
      ui: { method: 'POST', messages: [said], nodes },
    })
  })
  app.outbox.wake()
  return answerFlow(app, ctx, changed, { transientPayload: transientPayload(fields) })
}

/** The sign-in address that is mailed or passed on by an administrator. */
export function recoveryLink(app: App, flow: Flow, token: string): string {
  return `${app.publicUrl}/self-service/recovery?${new URLSearchParams({ flow: flow.id, token })}`
}

async function checkCode(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  code: string,
  fields: Fields,
): Promise<unknown> {
  const address = flow.context.methods?.recovery?.address
  // A submit without a code is no guess.
  const use =
    code === ''
      ? ({ kind: 'wrong' } as const)
      : await tryCode(app, ctx, flow, {
          code,
          subject: `recovery ${String(address ?? flow.identityId)}`,
          identityId: async () =>
            typeof address === 'string'
              ? (await findOwner(app.database.db, address))?.identityId
              : (flow.identityId ?? undefined),
        })
  if (use.kind === 'spent') return startAgain(app, ctx, flow, messages.attemptsSpent())
  if (use.kind === 'expired') return startAgain(app, ctx, flow, messages.recoveryExpired(use.at))
  if (use.kind === 'wrong') {
    const ui = { ...flow.ui, messages: [messages.recoveryCodeInvalid()] }
    const options = { transientPayload: transientPayload(fields) }
    return answerFlow(app, ctx, await updateFlow(app.database.db, flow, { ui }), options)
  }
  return completeRecovery(app, ctx, flow, { ...use, method: 'code_recovery' })
}

/** The owner of this recovery address, and the address that the right code verifies. */
async function findOwner(tx: Executor, value: string): Promise<CodeOwner | undefined> {
  const [row] = await tx
    .select({ identityId: recoveryAddresses.identityId, addressId: verifiableAddresses.id })
    .from(recoveryAddresses)
    .leftJoin(
      verifiableAddresses,
      and(eq(verifiableAddresses.via, recoveryAddresses.via), eq(verifiableAddresses.value, recoveryAddresses.value)),
    )
    .where(and(eq(recoveryAddresses.via, 'email'), eq(recoveryAddresses.value, value)))
  return row && { identityId: row.identityId, ...(row.addressId ? { addressId: row.addressId } : {}) }
}

/** Starts a new flow with a message that gives the reason. JSON clients are redirected too, as in Ory Kratos. */
async function startAgain(app: FlowApp, ctx: RequestContext, old: Flow, said: Message): Promise<unknown> {
  const flow = await insertEmptyFlow(app, ctx, { ...old, said, active: 'code' })
  if (old.type === 'browser' && !ctx.wantsJson) return redirectToFlow(app, ctx, flow)
  return ctx.reply.redirect(`${app.publicUrl}/self-service/recovery/flows?id=${flow.id}`, 303)
}

function insertEmptyFlow(
  app: FlowApp,
  ctx: RequestContext,
  options: Pick<Flow, 'type' | 'requestUrl' | 'returnTo'> & { said?: Message; active?: 'code' | 'link' },
): Promise<Flow> {
  const { said, active = 'code' } = options
  return insertFlow(app.database.db, {
    ...newFlow(ctx, 'recovery', options),
    active,
    ui: { method: 'POST', messages: said ? [said] : [], nodes: recoveryAddressForm(active) },
  })
}
