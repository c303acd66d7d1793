import { eq, sql } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import type { Executor } from '../db/database.ts'
import { type Flow, type FlowContext, verifiableAddresses } from '../db/schema.ts'
import { type Fields, textField, transientPayload } from '../http/body.ts'
import { csrfHash } from '../http/csrf.ts'
import { flowDisabled, flowExpired, flowReplaced } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { findVerifiable, type VerifiableAddress, verifyAddress } from '../identities/store.ts'
import { isEmail } from '../identities/traits.ts'
import { countMail } from '../limits/mails.ts'
import { verificationMail } from '../mail/code-mails.ts'
import { type Message, messages } from '../ui/messages.ts'
import { anchor, csrfNode, formMessage, type Node } from '../ui/nodes.ts'
import { answerFlow, answerMessages, redirectToFlow, toTarget } from './answer.ts'
import { attemptsPerCode, isFlowCode, sendCode, tryCode } from './codes.ts'
import { verificationAddressForm, verificationCodeForm } from './forms.ts'
import { resolveReturnTo } from './return-to.ts'
import { countAttempt, insertFlow, newFlow, updateFlow } from './store.ts'
import { isExpired, readSubmission, requireFlow } from './submission.ts'

export async function initVerification(app: App, ctx: RequestContext, type: Flow['type']): Promise<unknown> {
  requireMail(app)
  resolveReturnTo(ctx.query('return_to'), app.consoleUrl)
  const returnTo = ctx.query('return_to') || null
  return answerFlow(app, ctx, await insertEmptyFlow(app, ctx, { type, requestUrl: ctx.url, returnTo, found: [] }))
}

/** Creates the flow that a sign-up starts. Its code is already on its way. */
export async function startVerification(
  tx: Executor,
  app: App,
  options: { from: Flow; address: VerifiableAddress; csrfToken: Buffer },
): Promise<{ flow: Flow; address: VerifiableAddress }> {
  const { type, requestUrl, returnTo } = options.from
  const flow = await insertFlow(tx, {
    kind: 'verification',
    type,
    requestUrl,
    returnTo,
    state: 'sent_email',
    active: 'code',
    context: sentTo(options.address.value),
    csrfHash: type === 'browser' ? csrfHash(options.csrfToken) : null,
    ui: { method: 'POST', messages: [messages.verificationCodeSent()], nodes: verificationCodeForm(type) },
  })
  return { flow, address: await mailCode(tx, app, flow, options.address) }
}

export async function submitVerification(app: App, ctx: RequestContext): Promise<unknown> {
  requireMail(app)
  const flow = await requireFlow(app, ctx, 'verification')
  if (isExpired(flow)) return answerExpired(app, ctx, flow)
  const read = readSubmission(ctx, flow)
  if ('problem' in read) return answerForm(app, ctx, flow, [messages.generic(read.problem)])
  const { fields, method } = read.submission
  const code = textField(fields, 'code')
  const email = textField(fields, 'email')
  if (method !== 'code' && !(method === '' && code !== ''))
    return answerForm(app, ctx, flow, [messages.verificationMethodUnknown()], email)
  if (flow.state === 'passed_challenge') return replaceFlow(app, ctx, flow, messages.verificationDone())
  if (code !== '') return checkCode(app, ctx, flow, code, fields)
  if (!isEmail(email)) return answerBadAddress(app, ctx, flow, email)
  return sendTo(app, ctx, flow, email)
}

/**
 * Opens the link of the mail. It only prefills the code: mail scanners open links, and must not verify anything. The flow moves to the browser that
 * knows the code; a wrong code counts as an attempt.
 */
export async function openVerificationLink(app: App, ctx: RequestContext): Promise<unknown> {
  const flow = await requireFlow(app, ctx, 'verification')
  // The user continues in the browser that opened the mail, so the page needs a csrf cookie.
  ctx.ensureCsrfToken()
  if (isExpired(flow)) return answerExpired(app, ctx, flow)
  const code = ctx.query('code')
  if (code !== undefined && flow.state === 'sent_email') {
    if (await isFlowCode(app.database.db, app, flow, code)) {
      await updateFlow(app.database.db, flow, {
        ui: {
          ...flow.ui,
          nodes: flow.ui.nodes.map((node) => (node.attributes.name === 'code' ? withValue(node, code) : node)),
        },
        ...(flow.type === 'browser' ? { csrfHash: csrfHash(ctx.ensureCsrfToken()) } : {}),
      })
    } else if ((await countAttempt(app.database.db, flow)) > attemptsPerCode) {
      return replaceFlow(app, ctx, flow, messages.verificationAttemptsSpent())
    }
  }
  return redirectToFlow(app, ctx, flow)
}

/** Gives known and unknown addresses the same answer; a mail is sent only to a known one. */
async function sendTo(app: App, ctx: RequestContext, flow: Flow, email: string): Promise<unknown> {
  const value = normalizeIdentifier(email)
  await countMail(app, ctx, {
    subject: value,
    identityId: async () => (await findVerifiable(app.database.db, value))?.identityId,
  })
  const changed = await app.database.transaction(async (tx) => {
    const address = await findVerifiable(tx, value)
    if (address) await mailCode(tx, app, flow, address)
    else {
      // The same statements run for an unknown address, so that the response time reveals nothing.
      await sendCode(tx, app, flow, undefined)
      await markSent(tx, nobody)
    }
    return updateFlow(tx, flow, {
      state: 'sent_email',
      active: 'code',
      attempts: 0,
      context: { ...flow.context, ...sentTo(value) },
      ui: {
        method: 'POST',
        messages: [messages.verificationCodeSent()],
        nodes: verificationCodeForm(flow.type, { resendTo: email }),
      },
    })
  })
  app.outbox.wake()
  return answerFlow(app, ctx, changed)
}

/** Creates a code for an address and enqueues its mail. The caller wakes the outbox after the commit. */
async function mailCode(tx: Executor, app: App, flow: Flow, address: VerifiableAddress): Promise<VerifiableAddress> {
  await sendCode(tx, app, flow, {
    owner: { addressId: address.id, identityId: address.identityId },
    mail(code, usefulUntil) {
      const link = `${app.publicUrl}/self-service/verification?${new URLSearchParams({ flow: flow.id, code })}`
      return verificationMail({ recipient: address.value, code, link, usefulUntil })
    },
  })
  return (await markSent(tx, address.id)) ?? address
}

const nobody = '00000000-0000-0000-0000-000000000000'

async function markSent(tx: Executor, addressId: string): Promise<VerifiableAddress | undefined> {
  const [sent] = await tx
    .update(verifiableAddresses)
    .set({
      status: sql`case when ${verifiableAddresses.verified} then ${verifiableAddresses.status} else 'sent' end`,
      updatedAt: new Date(),
    })
    .where(eq(verifiableAddresses.id, addressId))
    .returning()
  return sent
}

/** Attempts at codes are counted per address, across all flows and mails. */
const sentTo = (address: string): FlowContext => ({ methods: { verification: { address } } })

async function checkCode(app: App, ctx: RequestContext, flow: Flow, code: string, fields: Fields): Promise<unknown> {
  const address = String(flow.context.methods?.verification?.address ?? flow.id)
  const use = await tryCode(app, ctx, flow, {
    code,
    subject: `verification ${address}`,
    identityId: async () => (await findVerifiable(app.database.db, address))?.identityId,
    accept: async (tx, { addressId }) => void (addressId && (await verifyAddress(tx, addressId))),
  })
  if (use.kind === 'spent') return replaceFlow(app, ctx, flow, messages.verificationAttemptsSpent())
  if (use.kind === 'wrong') {
    const ui = { ...flow.ui, messages: [messages.verificationCodeInvalid()] }
    return answerFlow(app, ctx, await updateFlow(app.database.db, flow, { ui }), {
      transientPayload: transientPayload(fields),
    })
  }
  if (use.kind === 'expired') return answerExpired(app, ctx, flow, { codeOnly: true })
  const target = toTarget(app, flow)
  const done = await updateFlow(app.database.db, flow, {
    state: 'passed_challenge',
    ui: {
      method: 'GET',
      action: target,
      messages: [messages.verified()],
      nodes: [csrfNode(), anchor('code', 'continue', target, messages.labelContinue())],
    },
  })
  return answerFlow(app, ctx, done)
}

async function answerBadAddress(app: App, ctx: RequestContext, flow: Flow, email: string): Promise<unknown> {
  const message = email === '' ? messages.required('email') : messages.invalidEmail(email)
  const form = flow.state === 'choose_method' ? verificationAddressForm : verificationCodeForm
  const nodes = form(flow.type, { email, found: formMessage(message, 'email') })
  const ui = { method: 'POST' as const, messages: [], nodes: email === '' ? withCsrfNode(nodes) : nodes }
  return answerFlow(app, ctx, await updateFlow(app.database.db, flow, { ui }), { status: 400 })
}

/** Shows messages for the form as a whole; the fields keep their values. */
async function answerForm(app: App, ctx: RequestContext, flow: Flow, found: Message[], email = ''): Promise<unknown> {
  const nodes = withCsrfNode(flow.ui.nodes).map((node) =>
    node.attributes.type === 'email' && email !== '' ? withValue(node, email) : node,
  )
  return answerMessages(app, ctx, { ...flow, ui: { ...flow.ui, nodes } }, found)
}

/** The form of an API client has an empty csrf token after an error, as in Ory Kratos. */
function withCsrfNode(nodes: Node[]): Node[] {
  return nodes.some(({ attributes }) => attributes.name === 'csrf_token') ? nodes : [...nodes, csrfNode()]
}

/** Starts a new flow with a message that gives the reason. */
async function replaceFlow(app: App, ctx: RequestContext, old: Flow, message: Message): Promise<unknown> {
  const flow = await insertEmptyFlow(app, ctx, { ...old, found: [message] })
  if (old.type === 'api' || ctx.wantsJson) throw flowReplaced(flow.id, message.text)
  return redirectToFlow(app, ctx, flow)
}

async function answerExpired(app: App, ctx: RequestContext, old: Flow, options?: { codeOnly: true }): Promise<unknown> {
  const found = [messages.verificationExpired(old.expiresAt)]
  const flow = await insertEmptyFlow(app, ctx, { ...old, found })
  if (old.type === 'browser' && !ctx.wantsJson) return redirectToFlow(app, ctx, flow)
  if (options?.codeOnly) throw flowExpired(new Date(), flow.id)
  return ctx.reply.redirect(`${app.publicUrl}/self-service/verification/flows?id=${flow.id}`, 303)
}

function insertEmptyFlow(
  app: App,
  ctx: RequestContext,
  options: Pick<Flow, 'type' | 'requestUrl' | 'returnTo'> & { found: Message[] },
): Promise<Flow> {
  return insertFlow(app.database.db, {
    ...newFlow(ctx, 'verification', options),
    active: 'code',
    ui: { method: 'POST', messages: options.found, nodes: verificationAddressForm(options.type) },
  })
}

function withValue(node: Node, value: string): Node {
  return { ...node, attributes: { ...node.attributes, value } }
}

function requireMail(app: App): void {
  if (app.assumesAddresses)
    throw flowDisabled('Verification is not possible: no mail server is configured, all addresses count as verified.')
  if (!app.sendsMail) throw flowDisabled('Verification is not possible: no mail server is configured.')
}
