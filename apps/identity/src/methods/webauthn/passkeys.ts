import { randomBytes } from 'node:crypto'
import { type App, uiUrl } from '../../app/app.ts'
import type { SettingsMethod } from '../../flows/settings-method.ts'
import { type LoginMethod, type RegistrationMethod, refusedWith } from '../../flows/sign-in-method.ts'
import { isObject, textField } from '../../http/body.ts'
import { locationChangeRequired } from '../../http/errors.ts'
import { findOwner } from '../../identities/credentials.ts'
import { checkTraits, getEmail, submittedTraits } from '../../identities/traits.ts'
import { type Message, messages } from '../../ui/messages.ts'
import { input } from '../../ui/nodes.ts'
import { admit } from '../admission.ts'
import { factorMessages } from '../factor-messages.ts'
import { countFirstFactors } from '../first-factors.ts'
import { recall, remember, takeMemory } from '../memory.ts'
import { acceptNewKey, askForNewKey, askForProof, isNewKey, type Proof, readProof } from './ceremony.ts'
import { type KeyKind, type KeyMemory, notAdded, submitKey, unreadable, useKey } from './keys.ts'
import { relyingParty } from './relying-party.ts'
import { scriptNode } from './script.ts'
import { findKeys, keyName, type StoredKeys } from './stored-keys.ts'

const type = 'passkey'
const kind: KeyKind = {
  type,
  noun: 'passkey',
  registerField: 'passkey_settings_register',
  removeField: 'passkey_remove',
  isFirstFactor: true,
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
    const own = refresh && session ? await findKeys(app.database.db, session.identityId, type) : undefined
    // A user who authenticates again is offered only their own passkeys, or none if they have none.
    if (refresh && !own) return []
    const { question = askForProof(party, { keys: own?.keys ?? [], passkey: true }) } = recall<KeyMemory>(context, type)
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
    if (flow.type !== 'browser' || !party) return refusedWith(messages.loginMethodUnknown())
    const text = textField(fields, 'passkey_login')
    if (text === '') {
      // A browser that runs no script on this page is redirected to the page that has it.
      const page = uiUrl(app, 'login', { flow: flow.id })
      if (ctx.wantsJson) throw locationChangeRequired(page)
      return { kind: 'answered', answer: ctx.reply.redirect(page, 303) }
    }
    const answer = readProof(text)
    if (!answer) return refusedWith(unreadable(kind))
    await app.limiter.take('client', ctx.clientAddress)
    const { question } = await takeMemory<KeyMemory>(app, flow, type)
    const owner = await findPasskeyOwner(app, answer)
    if (owner === undefined) return refusedWith(factorMessages.noSuchPasskey())
    if (await useKey(app, party, { identityId: owner, type }, answer, question))
      return refusedWith(factorMessages.webauthnWrong())
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
    const memory = recall<KeyMemory>(context, type)
    const userHandle = memory.userHandle ?? newHandle()
    const about = { userHandle: Buffer.from(userHandle), userName: party.name, known: [], passkey: true }
    const question = memory.question ?? askForNewKey(party, about)
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
    const refuse = (message: Message) => ({ ...refusedWith(message), traits })
    if (flow.type !== 'browser' || !party) return refuse(messages.registrationMethodUnknown())
    const answer = textField(fields, 'passkey_register')
    if (!isNewKey(answer)) return refuse(unreadable(kind))
    const found = checkTraits(traits)
    if (found.size > 0 || !isObject(traits)) return { kind: 'refused', found, traits }
    const { question, userHandle } = await takeMemory<KeyMemory>(app, flow, type)
    const key = question && (await acceptNewKey(party, answer, question.challenge))
    if (!key || userHandle === undefined) return refuse(notAdded(kind))
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
  async nodes(app, { type: flowType, user, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !party) return []
    const identityId = user.id
    const stored = await findKeys(app.database.db, identityId, type)
    const known = stored?.keys ?? []
    const memory = recall<KeyMemory>(context, type)
    const userHandle = stored?.userHandle ?? memory.userHandle ?? newHandle()
    const userName = getEmail(user.traits)
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
  submit: submitKey(kind),
}

/** Finds the owner of a passkey by the user handle that was set when it was created. */
async function findPasskeyOwner(app: App, { response }: Proof): Promise<string | undefined> {
  if (!response.userHandle) return undefined
  const handle = Buffer.from(response.userHandle, 'base64url').toString('utf8')
  // Keys of other kinds have handles of any bytes, and the database refuses a text with a zero byte.
  return handle.includes('\0') ? undefined : findOwner(app.database.db, type, handle)
}

/** 64 letters without information about the user. */
const newHandle = () => randomBytes(48).toString('base64url')
