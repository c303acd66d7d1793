import { randomBytes } from 'node:crypto'
import type { App } from '../../app/app.ts'
import { uiUrl } from '../../app/app.ts'
import {
  refusedWith,
  type SettingsAttempt,
  type SettingsMethod,
  type SettingsOutcome,
} from '../../flows/settings-method.ts'
import type { LoginMethod, LoginOutcome, RegistrationMethod } from '../../flows/sign-in-method.ts'
import { isObject, textField } from '../../http/body.ts'
import { locationChangeRequired } from '../../http/errors.ts'
import { findOwner, removeConfig, saveConfig, saveIdentifiers } from '../../identities/credentials.ts'
import { checkTraits, emailOf, submittedTraits } from '../../identities/traits.ts'
import { recordSecurityEvent } from '../../security/events.ts'
import { messages } from '../../ui/messages.ts'
import { input } from '../../ui/nodes.ts'
import { admit } from '../admission.ts'
import { factorMessages } from '../factor-messages.ts'
import { countFirstFactors, requireAnotherFirstFactor } from '../first-factors.ts'
import { recall, remember, takeOut } from '../memory.ts'
import {
  acceptNewKey,
  acceptProof,
  askForNewKey,
  askForProof,
  isNewKey,
  type Proof,
  type Question,
  readProof,
} from './ceremony.ts'
import { type RelyingParty, relyingParty } from './relying-party.ts'
import { scriptNode } from './script.ts'
import { findKeys, keyName, type StoredKeys } from './stored-keys.ts'

const type = 'passkey'
const unreadable = () => messages.generic('The answer of the passkey cannot be read.')

/** The state in a flow: the options that were sent, and the user handle of a new passkey. */
interface Memory {
  question?: Question
  userHandle?: string
}

/** Signing in without a name and a password. Passkeys are for browsers: API clients have no form for them. */
export const passkeyLogin: LoginMethod = {
  id: type,
  aals: ['aal1'],
  claims: (fields, method) => method === type || textField(fields, 'passkey_login') !== '',
  // Browsers list the passkeys while the user types the name.
  autocomplete: (app, about) =>
    about.type === 'browser' && !about.refresh && relyingParty(app) ? 'username webauthn' : undefined,
  async nodes(app, { type: flowType, refresh, session, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !party) return []
    const own = refresh && session ? await findKeys(app.database.db, session.session.identityId, type) : undefined
    // A user who authenticates again is offered only their own passkeys, or none if they have none.
    if (refresh && !own) return []
    const { question = askForProof(party, { keys: own?.keys ?? [], passkey: true }) } = recall<Memory>(context, type)
    remember(context, type, { question })
    const onload = refresh ? {} : { onloadTrigger: 'oryPasskeyLoginAutocompleteInit' }
    return [
      scriptNode(app),
      input(type, 'passkey_login_trigger', 'button', {
        value: '',
        onclickTrigger: 'oryPasskeyLogin',
        ...onload,
        label: factorMessages.loginPasskey(),
      }),
      input(type, 'passkey_login', 'hidden', onload),
      input(type, 'passkey_challenge', 'hidden', { value: JSON.stringify(question.options) }),
    ]
  },
  async check(app, ctx, { flow, fields }) {
    const party = relyingParty(app)
    const refuse = (message: ReturnType<typeof messages.generic>): LoginOutcome => ({
      kind: 'refused',
      found: new Map([['', [message]]]),
    })
    if (flow.type !== 'browser' || !party) return refuse(messages.loginMethodUnknown())
    const text = textField(fields, 'passkey_login')
    if (text === '') {
      // A browser that runs no script on this page is redirected to the page that has it.
      const page = uiUrl(app, 'login', { flow: flow.id })
      if (ctx.wantsJson) throw locationChangeRequired(page)
      return { kind: 'answered', answer: ctx.reply.redirect(page, 303) }
    }
    const answer = readProof(text)
    if (!answer) return refuse(unreadable())
    await app.limiter.take('client', ctx.clientAddress)
    const { question } = await takeOut<Memory>(app, flow, type)
    const owner = await findPasskeyOwner(app, answer)
    if (owner === undefined) return refuse(factorMessages.noSuchPasskey())
    if (!question || !(await usePasskey(app, party, owner, answer, question.challenge)))
      return refuse(factorMessages.webauthnWrong())
    await app.limiter.refund('client', ctx.clientAddress)
    return admit(app, owner, type)
  },
}

export const passkeyRegistration: RegistrationMethod = {
  id: type,
  // Some clients fill the empty input with "true".
  claims: (fields) => !['', 'true'].includes(textField(fields, 'passkey_register')),
  async nodes(app, { type: flowType, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !party) return []
    const memory = recall<Memory>(context, type)
    const userHandle = memory.userHandle ?? newHandle()
    const question =
      memory.question ??
      askForNewKey(party, {
        userHandle: Buffer.from(userHandle),
        userName: party.name,
        known: [],
        passkey: true,
      })
    remember(context, type, { question, userHandle })
    const data = { credentialOptions: question.options, displayNameFieldName: 'traits.email' }
    return [
      scriptNode(app),
      input(type, 'passkey_register', 'hidden'),
      input(type, 'passkey_register_trigger', 'button', {
        onclickTrigger: 'oryPasskeyRegistration',
        label: factorMessages.registerPasskey(),
      }),
      input(type, 'passkey_create_data', 'hidden', { value: JSON.stringify(data) }),
    ]
  },
  async check(app, _ctx, { flow, fields }) {
    const party = relyingParty(app)
    const traits = submittedTraits(fields.traits)
    const refuse = (message: ReturnType<typeof messages.generic>) =>
      ({ kind: 'refused', found: new Map([['', [message]]]), traits }) as const
    if (flow.type !== 'browser' || !party) return refuse(messages.registrationMethodUnknown())
    const answer = textField(fields, 'passkey_register')
    if (!isNewKey(answer)) return refuse(unreadable())
    const found = checkTraits(traits)
    if (found.size > 0 || !isObject(traits)) return { kind: 'refused', found, traits }
    const { question, userHandle } = await takeOut<Memory>(app, flow, type)
    const key = question && (await acceptNewKey(party, answer, question.challenge))
    if (!key || userHandle === undefined)
      return refuse(messages.generic('The passkey could not be added. Please try again.'))
    const config: StoredKeys = { userHandle, keys: [{ ...key, name: '' }] }
    return {
      kind: 'proven',
      traits,
      credentials: [{ type, config, identifiers: [userHandle] }],
      session: true,
    }
  },
}

export const passkeySettings: SettingsMethod = {
  id: type,
  claims: (fields) =>
    textField(fields, 'passkey_settings_register') !== '' || textField(fields, 'passkey_remove') !== '',
  async nodes(app, { type: flowType, person, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !party) return []
    const identityId = person.identity.id
    const stored = await findKeys(app.database.db, identityId, type)
    const known = stored?.keys ?? []
    const memory = recall<Memory>(context, type)
    const userHandle = stored?.userHandle ?? memory.userHandle ?? newHandle()
    const userName = emailOf(person.identity.traits)
    const question =
      memory.question ?? askForNewKey(party, { userHandle: Buffer.from(userHandle), userName, known, passkey: true })
    remember(context, type, { question, userHandle })
    const last = known.length > 0 && (await countFirstFactors(app, app.database.db, identityId)) < 2
    return [
      ...known.map((key) =>
        input(type, 'passkey_remove', 'submit', {
          value: keyName(key),
          disabled: last,
          label: factorMessages.removePasskey(key.name || 'unnamed', new Date(key.addedAt)),
        }),
      ),
      input(type, 'passkey_register_trigger', 'button', {
        value: '',
        onclickTrigger: 'oryPasskeySettingsRegistration',
        label: factorMessages.registerPasskeyInSettings(),
      }),
      input(type, 'passkey_settings_register', 'hidden'),
      // The form part of the security keys contains the script.
      input(type, 'passkey_create_data', 'hidden', { value: JSON.stringify(question.options) }),
    ]
  },
  async submit(app, attempt) {
    const { type: flowType, fields, flow, person, context } = attempt
    const party = relyingParty(app)
    if (flowType !== 'browser' || !party) return refusedWith(messages.settingsMethodUnknown())
    const identityId = person.identity.id
    const answer = textField(fields, 'passkey_settings_register')
    if (answer === '') return removal(app, attempt)
    if (!isNewKey(answer)) return refusedWith(unreadable())
    const { question, userHandle } = await takeOut<Memory>(app, flow, type)
    context.methods = flow.context.methods
    const key = question && (await acceptNewKey(party, answer, question.challenge))
    if (!key || userHandle === undefined)
      return refusedWith(messages.generic('The passkey could not be added. Please try again.'))
    return {
      kind: 'changed',
      async write(tx) {
        const now = await findKeys(tx, identityId, type, { lock: true })
        const others = now?.keys.filter(({ id }) => id !== key.id) ?? []
        const config: StoredKeys = { userHandle, keys: [...others, { ...key, name: '' }] }
        await saveConfig(tx, identityId, type, config)
        await saveIdentifiers(tx, identityId, type, [userHandle])
        await recordSecurityEvent(tx, app, attempt.ctx, person, { event: 'factor-added', factor: 'a passkey' })
        return undefined
      },
    }
  },
}

async function removal(app: App, { ctx, fields, person }: SettingsAttempt): Promise<SettingsOutcome> {
  const identityId = person.identity.id
  const name = textField(fields, 'passkey_remove')
  const stored = await findKeys(app.database.db, identityId, type)
  if (!stored) return refusedWith(messages.generic('You have no passkey that could be removed.'))
  if (!stored.keys.some((key) => keyName(key) === name))
    return refusedWith(messages.generic('There is no such passkey.'))
  if ((await countFirstFactors(app, app.database.db, identityId)) < 2)
    return refusedWith(messages.generic('This passkey is your last way to sign in, so it cannot be removed.'))
  return {
    kind: 'changed',
    async write(tx) {
      await requireAnotherFirstFactor(tx, app, identityId)
      const now = await findKeys(tx, identityId, type, { lock: true })
      const keys = now?.keys.filter((key) => keyName(key) !== name) ?? []
      if (now && keys.length > 0) await saveConfig(tx, identityId, type, { ...now, keys })
      else await removeConfig(tx, identityId, type)
      await recordSecurityEvent(tx, app, ctx, person, { event: 'factor-removed', factor: 'a passkey' })
      return undefined
    },
  }
}

/** Finds the owner of a passkey by the user handle that was set when it was created. */
async function findPasskeyOwner(app: App, { response }: Proof): Promise<string | undefined> {
  if (!response.userHandle) return undefined
  return findOwner(app.database.db, type, Buffer.from(response.userHandle, 'base64url').toString('utf8'))
}

async function usePasskey(
  app: App,
  party: RelyingParty,
  identityId: string,
  answer: Proof,
  challenge: string,
): Promise<boolean> {
  return app.database.transaction(async (tx) => {
    const stored = await findKeys(tx, identityId, type, { lock: true })
    const key = stored?.keys.find(({ id }) => id === answer.id)
    const counter = key && (await acceptProof(party, answer, challenge, key))
    if (!stored || counter === undefined) return false
    const keys = stored.keys.map((other) => (other === key ? { ...other, counter } : other))
    await saveConfig(tx, identityId, type, { ...stored, keys })
    return true
  })
}

/** 64 letters without information about the user. */
const newHandle = () => randomBytes(48).toString('base64url')
