import type { SettingsMethod } from '../../flows/settings-method.ts'
import { type LoginMethod, refusedWith } from '../../flows/sign-in-method.ts'
import { textField } from '../../http/body.ts'
import type { User } from '../../identities/store.ts'
import { getEmail } from '../../identities/traits.ts'
import { guessSecondFactor } from '../../limits/guesses.ts'
import { messages } from '../../ui/messages.ts'
import { input } from '../../ui/nodes.ts'
import { factorMessages } from '../factor-messages.ts'
import { recall, remember, takeMemory } from '../memory.ts'
import { askForNewKey, askForProof, type Question, readProof } from './ceremony.ts'
import { type KeyKind, type KeyMemory, submitKey, unreadable, useKey } from './keys.ts'
import { relyingParty } from './relying-party.ts'
import { scriptNode } from './script.ts'
import { findKeys, keyName } from './stored-keys.ts'

const type = 'webauthn'

const kind: KeyKind = {
  type,
  noun: 'security key',
  registerField: 'webauthn_register',
  removeField: 'webauthn_remove',
  nameField: 'webauthn_register_displayname',
  userHandle: (user) => getUserHandle(user).toString('base64url'),
  isFirstFactor: false,
}

/** Security keys as second factor. They are for browsers: API clients have no form for them. */
export const securityKeyLogin: LoginMethod = {
  id: type,
  aals: ['aal2'],
  claims: (fields, method) => method === type || textField(fields, 'webauthn_login') !== '',
  async nodes(app, { type: flowType, session, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !session || !party) return []
    const stored = await findKeys(app.database.db, session.identityId, type)
    if (!stored) return []
    const question = asked(context) ?? askForProof(party, { keys: stored.keys, passkey: false })
    remember(context, type, { question })
    return [
      input('default', 'identifier', 'hidden', { value: getEmail(session.user.traits).toLowerCase() }),
      scriptNode(app),
      input(type, 'webauthn_login_trigger', 'button', {
        value: JSON.stringify(question.options),
        onclickTrigger: 'oryWebAuthnLogin',
        onclickArgument: JSON.stringify(question.options),
        label: factorMessages.loginWebauthn(),
      }),
      input(type, 'webauthn_login', 'hidden', { value: '' }),
    ]
  },
  async check(app, ctx, { flow, fields, session }) {
    const party = relyingParty(app)
    const answer = readProof(textField(fields, 'webauthn_login'))
    if (flow.type !== 'browser' || !party) return refusedWith(messages.loginMethodUnknown())
    if (!answer || !session) return refusedWith(unreadable(kind))
    const { identityId } = session
    const { question } = await takeMemory<KeyMemory>(app, flow, type)
    const guess = await guessSecondFactor(app, ctx, identityId)
    const problem = await useKey(app, party, { identityId, type }, answer, question)
    if (problem) return refusedWith(problem)
    await guess.right()
    return { kind: 'proven', identityId, method: type, aal: 'aal2' }
  },
}

export const securityKeySettings: SettingsMethod = {
  id: type,
  claims: (fields) => textField(fields, 'webauthn_register') !== '' || textField(fields, 'webauthn_remove') !== '',
  async nodes(app, { type: flowType, user, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !party) return []
    const known = (await findKeys(app.database.db, user.id, type))?.keys ?? []
    const userHandle = getUserHandle(user)
    const question = asked(context) ?? askForNewKey(party, { userHandle, userName: party.name, known, passkey: false })
    remember(context, type, { question })
    return [
      ...known.map((key) =>
        input(type, 'webauthn_remove', 'submit', {
          value: keyName(key),
          label: factorMessages.removeWebauthn(key.name || 'unnamed', new Date(key.addedAt)),
        }),
      ),
      input(type, 'webauthn_register_displayname', 'text', { value: '', label: factorMessages.webauthnName() }),
      input(type, 'webauthn_register', 'hidden', { value: '' }),
      input(type, 'webauthn_register_trigger', 'button', {
        value: JSON.stringify(question.options),
        onclickTrigger: 'oryWebAuthnRegistration',
        onclickArgument: JSON.stringify(question.options),
        label: factorMessages.registerWebauthn(),
      }),
      scriptNode(app),
    ]
  },
  submit: submitKey(kind),
}

/** The bytes of the identity's id. */
function getUserHandle(identity: User): Buffer {
  return Buffer.from(identity.id.replaceAll('-', ''), 'hex')
}

/** The options that the flow has sent already. An error elsewhere in the form does not change them. */
function asked(context: Parameters<typeof recall>[0]): Question | undefined {
  return recall<KeyMemory>(context, type).question
}
