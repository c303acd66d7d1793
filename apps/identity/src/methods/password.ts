import type { App } from '../app/app.ts'
import type { Traits } from '../db/schema.ts'
import type { SettingsMethod } from '../flows/settings-method.ts'
import {
  type LoginMethod,
  type LoginOutcome,
  type RegistrationMethod,
  type RegistrationOutcome,
  refusedWith,
} from '../flows/sign-in-method.ts'
import { type Fields, isObject, textField } from '../http/body.ts'
import { identityDisabled } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { saveConfig } from '../identities/credentials.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { findPasswordLogin, replacePasswordHash } from '../identities/store.ts'
import { checkTraits, getEmail, submittedTraits, traitAt } from '../identities/traits.ts'
import { countGuess } from '../limits/guesses.ts'
import { recordSecurityEvent } from '../security/events.ts'
import { type Message, messages } from '../ui/messages.ts'
import { addMessage, input, type Node, submitButton } from '../ui/nodes.ts'
import { isForeignHash } from './password-hash.ts'
import { passwordProblem } from './password-policy.ts'

export const passwordLogin: LoginMethod = {
  id: 'password',
  aals: ['aal1'],
  nodes: (_app, { refresh }) => [
    passwordInput('current-password'),
    submitButton('password', refresh ? messages.labelLogin() : messages.labelLoginPassword()),
  ],
  check: (app, ctx, { fields }) => checkLogin(app, ctx, fields),
}

export const passwordRegistration: RegistrationMethod = {
  id: 'password',
  nodes: () => [passwordInput('new-password'), submitButton('password', messages.labelRegistration())],
  check: (app, _ctx, { fields }) => checkRegistration(app, fields),
}

export const passwordSettings: SettingsMethod = {
  id: 'password',
  nodes: () => [passwordInput('new-password'), submitButton('password', messages.labelSave())],
  async submit(app, { ctx, fields, user }) {
    const password = textField(fields, 'password')
    const problem =
      password === '' ? messages.required('password') : passwordProblem(password, personalData(user.traits))
    if (problem) return refusedWith(problem, 'password')
    const hash = await app.passwords.hash(password)
    return {
      kind: 'changed',
      async write(tx) {
        await saveConfig(tx, user.id, 'password', { hashed_password: hash })
        await recordSecurityEvent(tx, app, ctx, user, { event: 'password-changed' })
        return undefined
      },
    }
  },
}

/** The data that a password must not consist of. */
function personalData(traits: Traits): { identifier: string; names: string[] } {
  const names = ['traits.name.first', 'traits.name.last'].map((name) => traitAt(traits, name))
  return {
    identifier: normalizeIdentifier(getEmail(traits)),
    names: names.filter((name): name is string => typeof name === 'string'),
  }
}

function passwordInput(autocomplete: string): Node {
  return input('password', 'password', 'password', { required: true, autocomplete, label: messages.labelPassword() })
}

/**
 * Checks an identifier and a password. An unknown account, one without a password and a wrong password get the same answer after the same work.
 *
 * @throws IdentityError 401 for a disabled identity, but only with its right password; 429 after too many failures
 */
async function checkLogin(app: App, ctx: RequestContext, fields: Fields): Promise<LoginOutcome> {
  const identifier = textField(fields, 'identifier') || textField(fields, 'password_identifier')
  const password = textField(fields, 'password')
  const found = new Map<string, Message[]>()
  if (identifier === '') addMessage(found, 'identifier', messages.required('identifier'))
  if (password === '') addMessage(found, 'password', messages.required('password'))
  if (found.size > 0) return { kind: 'refused', found, identifier }

  const account = normalizeIdentifier(identifier)
  const owner = await findPasswordLogin(app.database.db, account)
  const guess = await countGuess(app, ctx, {
    kind: 'password',
    subject: account,
    identityId: () => owner?.identityId,
  })
  // A password that is too long to be set needs no real check, but takes the same time.
  const login = password.length <= 4096 ? owner : undefined
  if (!(await app.passwords.verify(login?.hash, password)) || !login)
    return { ...refusedWith(messages.credentialsInvalid()), identifier }

  await guess.right()
  if (login.state !== 'active') throw identityDisabled()
  if (app.verifiesAddresses && !login.verified)
    return { ...refusedWith(messages.addressNotVerified()), active: 'password' }
  if (login.hash !== undefined && isForeignHash(login.hash)) {
    const next = await app.passwords.hash(password)
    await replacePasswordHash(app.database.db, login.identityId, { from: login.hash, to: next })
  }
  return { kind: 'proven', identityId: login.identityId }
}

/** Validates the input of a sign-up and hashes the password. */
async function checkRegistration(app: App, fields: Fields): Promise<RegistrationOutcome> {
  const traits = submittedTraits(fields.traits)
  const password = textField(fields, 'password')
  const found = checkTraits(traits)
  if (password === '') addMessage(found, 'password', messages.required('password'))
  if (found.size > 0 || !isObject(traits)) return { kind: 'refused', found, traits }
  const problem = passwordProblem(password, personalData(traits))
  if (problem) return { ...refusedWith(problem, 'password'), traits }
  const hash = await app.passwords.hash(password)
  return {
    kind: 'proven',
    traits,
    credentials: [{ type: 'password', config: { hashed_password: hash } }],
    session: true,
  }
}
