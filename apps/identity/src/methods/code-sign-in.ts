import { isDeepStrictEqual } from 'node:util'
import type { App } from '../app/app.ts'
import type { Flow, Traits } from '../db/schema.ts'
import { sendCode, tryCode } from '../flows/codes.ts'
import { traitInputs } from '../flows/forms.ts'
import type {
  LoginAttempt,
  LoginMethod,
  LoginOutcome,
  RegistrationMethod,
  RegistrationOutcome,
} from '../flows/sign-in-method.ts'
import { updateFlow } from '../flows/store.ts'
import { type Fields, isObject, textField } from '../http/body.ts'
import { identityDisabled } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { findUser, findVerifiable, verifyAddress } from '../identities/store.ts'
import { checkTraits, getEmail, submittedTraits } from '../identities/traits.ts'
import { countMail } from '../limits/mails.ts'
import { loginCodeMail, registrationCodeMail } from '../mail/code-mails.ts'
import { claimAddress } from '../security/claim.ts'
import { type Message, messages } from '../ui/messages.ts'
import {
  csrfNode,
  type FieldMessages,
  formMessage,
  input,
  type Node,
  noMessages,
  submitButton,
  withMessages,
} from '../ui/nodes.ts'
import { recall, remember } from './memory.ts'

/** Signing in and signing up with a code that is sent by mail, without a password. */
export const codeLogin: LoginMethod = {
  id: 'code',
  aals: ['aal1'],
  nodes: (app) => (app.sendsMail ? [submitButton('code', messages.labelSendLoginCode())] : []),
  check: checkLogin,
}

export const codeRegistration: RegistrationMethod = {
  id: 'code',
  nodes: (app) => (app.sendsMail ? [submitButton('code', messages.labelSendRegistrationCode())] : []),
  check: checkRegistration,
}

async function checkLogin(
  app: App,
  ctx: RequestContext,
  { flow, fields, session }: LoginAttempt,
): Promise<LoginOutcome> {
  const identifier = textField(fields, 'identifier')
  const code = textField(fields, 'code')
  const refused = (found: FieldMessages): LoginOutcome => {
    const nodes = withMessages(loginAgain(normalizeIdentifier(identifier)), found)
    return { kind: 'continued', status: 400, change: { ui: { method: 'POST', messages: found.get('') ?? [], nodes } } }
  }
  if (!app.sendsMail || flow.state === 'passed_challenge') return refused(formMessage(messages.loginMethodUnknown()))
  const missing = formMessage(messages.required('identifier'), 'identifier')
  if (flow.state === 'choose_method' || isResendRequest(fields)) {
    if (identifier === '') return { kind: 'refused', found: missing, identifier }
    return sendLoginCode(app, ctx, flow, normalizeIdentifier(identifier))
  }
  if (code === '') return refused(formMessage(messages.required('code'), 'code'))
  if (identifier === '') return refused(missing)
  const address = normalizeIdentifier(identifier)
  const use = await tryMailedCode(app, ctx, flow, { address, code })
  if (use.kind === 'spent') return refused(formMessage(messages.attemptsSpent()))
  if (use.kind === 'expired') return use
  if (use.kind === 'wrong') return refused(formMessage(messages.loginCodeInvalid()))
  const user = use.identityId === null ? undefined : await findUser(app.database.db, use.identityId)
  if (user?.state !== 'active') throw identityDisabled()
  // Reading the mail of an address proves its ownership.
  const unproven = user.verifiable.find(({ value, verified }) => value === address && !verified)
  const isOwn = session?.identityId === user.id
  await app.database.transaction(async (tx) => {
    if (unproven) await (isOwn ? verifyAddress(tx, unproven.id) : claimAddress(tx, app, ctx, user, unproven))
    await updateFlow(tx, flow, { state: 'passed_challenge' })
  })
  return { kind: 'proven', identityId: user.id }
}

/** Gives known and unknown addresses the same answer; a mail is sent only to a known one. */
async function sendLoginCode(app: App, ctx: RequestContext, flow: Flow, address: string): Promise<LoginOutcome> {
  await countMail(app, ctx, {
    subject: `login ${address}`,
    identityId: async () => (await findVerifiable(app.database.db, address))?.identityId,
  })
  await app.database.transaction(async (tx) => {
    const owned = await findVerifiable(tx, address)
    const mail = (code: string, usefulUntil: Date) => loginCodeMail({ recipient: address, code, usefulUntil })
    // The code is bound to the address, so a code that was sent to a previous address of the user does not sign in.
    const owner = owned && { identityId: owned.identityId, addressId: owned.id }
    await sendCode(tx, app, flow, owner && { owner, mail })
  })
  app.outbox.wake()
  const identifier = input('default', 'identifier', 'hidden', {
    value: address,
    required: true,
    ...(flow.type === 'browser' ? { autocomplete: 'username webauthn' } : {}),
    label: messages.labelTrait('E-Mail'),
  })
  const nodes = [...(flow.type === 'browser' ? [csrfNode()] : []), identifier, ...codeInputs(messages.labelLoginCode())]
  return codeSent(flow, { address }, messages.loginCodeSent(), nodes)
}

function loginAgain(identifier: string): Node[] {
  return [
    csrfNode(),
    input('default', 'identifier', 'hidden', { value: identifier }),
    ...codeInputs(messages.labelLoginCode()),
  ]
}

async function checkRegistration(
  app: App,
  ctx: RequestContext,
  { flow, fields }: { flow: Flow; fields: Fields },
): Promise<RegistrationOutcome> {
  const traits = submittedTraits(fields.traits)
  const code = textField(fields, 'code')
  const refused = (found: FieldMessages, shown: unknown = traits): RegistrationOutcome => ({
    kind: 'continued',
    status: 400,
    change: { ui: { method: 'POST', messages: found.get('') ?? [], nodes: registrationNodes(shown, found) } },
  })
  if (!app.sendsMail || flow.state === 'passed_challenge')
    return refused(formMessage(messages.registrationMethodUnknown()), recall(flow.context, 'code').traits)
  const found = checkTraits(traits)
  const sends = flow.state === 'choose_method' || isResendRequest(fields)
  if (found.size > 0 && flow.state === 'choose_method') return { kind: 'refused', found, traits }
  if (found.size > 0 || !isObject(traits)) return refused(found, recall(flow.context, 'code').traits)
  const address = normalizeIdentifier(getEmail(traits))
  if (sends) return sendRegistrationCode(app, ctx, flow, { traits, address })
  if (!isDeepStrictEqual(recall(flow.context, 'code').traits, traits))
    return refused(formMessage(messages.traitsChanged()))
  if (code === '') return refused(formMessage(messages.required('code'), 'code'))
  const use = await tryMailedCode(app, ctx, flow, { address, code })
  if (use.kind === 'spent') return refused(formMessage(messages.attemptsSpent()))
  if (use.kind === 'expired') return use
  if (use.kind === 'wrong') return refused(formMessage(messages.registrationCodeInvalid()))
  await updateFlow(app.database.db, flow, { state: 'passed_challenge' })
  return { kind: 'proven', traits, credentials: [], session: true, verified: true }
}

/** Only users who can read the mail of an address learn whether it is taken. */
async function sendRegistrationCode(
  app: App,
  ctx: RequestContext,
  flow: Flow,
  options: { traits: Traits; address: string },
): Promise<RegistrationOutcome> {
  const { traits, address } = options
  await countMail(app, ctx, { subject: `registration ${address}`, identityId: () => undefined })
  const mail = (code: string, usefulUntil: Date) => registrationCodeMail({ recipient: address, code, usefulUntil })
  await app.database.transaction((tx) => sendCode(tx, app, flow, { owner: {}, mail }))
  app.outbox.wake()
  return codeSent(flow, { address, traits }, messages.registrationCodeSent(), registrationNodes(traits))
}

/** The flow continues with the form for the code. */
function codeSent(flow: Flow, memory: Record<string, unknown>, message: Message, nodes: Node[]) {
  const context = structuredClone(flow.context)
  remember(context, 'code', memory)
  const ui = { method: 'POST' as const, messages: [message], nodes }
  const change = { state: 'sent_email' as const, active: 'code', attempts: 0, context, ui }
  return { kind: 'continued' as const, status: 400, change }
}

function registrationNodes(traits: unknown, found: FieldMessages = noMessages): Node[] {
  const hidden = traitInputs('default', traits).map((node) => ({
    ...node,
    attributes: { ...node.attributes, type: 'hidden' },
  }))
  return withMessages([...hidden, csrfNode(), ...codeInputs(messages.labelRegistrationCode())], found)
}

function codeInputs(label: Message): Node[] {
  return [
    input('code', 'method', 'hidden', { value: 'code' }),
    input('code', 'code', 'text', { required: true, label }),
    submitButton('code', messages.labelContinue()),
    input('code', 'resend', 'submit', { value: 'code', label: messages.labelResend() }),
  ]
}

function isResendRequest(fields: Fields): boolean {
  return textField(fields, 'resend') === 'code'
}

function tryMailedCode(
  app: App,
  ctx: RequestContext,
  flow: Flow,
  { address, code }: { address: string; code: string },
) {
  return tryCode(app, ctx, flow, {
    code,
    subject: `${flow.kind} ${address}`,
    identityId: async () => (await findVerifiable(app.database.db, address))?.identityId,
    isExpected: recall(flow.context, 'code').address === address,
  })
}
