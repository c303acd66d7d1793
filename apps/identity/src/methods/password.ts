import type { App } from '../context.ts'
import type { Traits } from '../db/schema.ts'
import { type Message, messages } from '../flows/messages.ts'
import { addMessage } from '../flows/nodes.ts'
import { type Fields, textField } from '../http/body.ts'
import { IdentityError } from '../http/errors.ts'
import type { Visit } from '../http/visit.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { findPasswordLogin } from '../identities/store.ts'
import { checkTraits, emailOf, submittedTraits } from '../identities/traits.ts'
import { passwordProblem } from './password-policy.ts'

export type LoginOutcome =
  | { ok: true; identityId: string }
  | { ok: false; found: Map<string, Message[]>; identifier: string; active?: string }

/**
 * Checks an identifier and a password. An unknown account, one without a password and a wrong password give the same
 * answer after the same work.
 *
 * @throws IdentityError 401 for a disabled identity, but only to who knows its password; 429 after too many failures
 */
export async function checkPasswordLogin(app: App, visit: Visit, fields: Fields): Promise<LoginOutcome> {
  const identifier = textField(fields, 'identifier') || textField(fields, 'password_identifier')
  const password = textField(fields, 'password')
  const found = new Map<string, Message[]>()
  if (identifier === '') addMessage(found, 'identifier', messages.required('identifier'))
  if (password === '') addMessage(found, 'password', messages.required('password'))
  if (found.size > 0) return { ok: false, found, identifier }

  const account = normalizeIdentifier(identifier)
  await app.limiter.take('client', visit.clientAddress)
  await app.limiter.take('account', account)
  // A password that could never have been set is not worth a hash, but it takes as long as one.
  const login = password.length <= 4096 ? await findPasswordLogin(app.database.db, account) : undefined
  if (!(await app.passwords.verify(login?.hash, password)) || !login)
    return { ok: false, found: new Map([['', [messages.credentialsInvalid()]]]), identifier }

  await app.limiter.refund('client', visit.clientAddress)
  await app.limiter.reset('account', account)
  if (login.state !== 'active')
    throw new IdentityError(401, { message: 'identity is disabled', reason: 'This account was disabled.' })
  if (app.verifiesAddresses && !login.verified)
    return { ok: false, found: new Map([['', [messages.addressNotVerified()]]]), identifier: '', active: 'password' }
  return { ok: true, identityId: login.identityId }
}

export type RegistrationOutcome =
  | { ok: true; traits: Traits; passwordHash: string }
  | { ok: false; found: Map<string, Message[]>; traits: unknown }

/** Checks what a person signs up with and hashes the password. */
export async function checkPasswordRegistration(app: App, fields: Fields): Promise<RegistrationOutcome> {
  const traits = submittedTraits(fields.traits)
  const password = textField(fields, 'password')
  const found = checkTraits(traits)
  if (password === '') addMessage(found, 'password', messages.required('password'))
  if (found.size > 0) return { ok: false, found, traits }

  // checkTraits has just proven the shape.
  const valid = traits as Traits
  const problem = passwordProblem(password, normalizeIdentifier(emailOf(valid)))
  if (problem) return { ok: false, found: new Map([['password', [problem]]]), traits }
  return { ok: true, traits: valid, passwordHash: await app.passwords.hash(password) }
}
