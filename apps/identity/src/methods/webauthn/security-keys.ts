import { refusedWith, type SettingsMethod } from '../../flows/settings-method.ts'
import type { LoginMethod } from '../../flows/sign-in-method.ts'
import { textField } from '../../http/body.ts'
import { removeConfig, saveConfig } from '../../identities/credentials.ts'
import { emailOf } from '../../identities/traits.ts'
import { countGuess } from '../../limits/guesses.ts'
import { recordSecurityEvent } from '../../security/events.ts'
import { messages } from '../../ui/messages.ts'
import { input } from '../../ui/nodes.ts'
import { factorMessages } from '../factor-messages.ts'
import { recall, remember, takeOut } from '../memory.ts'
import { acceptNewKey, acceptProof, askForNewKey, askForProof, isNewKey, type Question, readProof } from './ceremony.ts'
import { relyingParty } from './relying-party.ts'
import { scriptNode } from './script.ts'
import { findKeys, keyName } from './stored-keys.ts'

const type = 'webauthn'

/** The state in a flow: the options that were sent. */
type Memory = { question?: Question }

/** Security keys as second factor. They are for browsers: API clients have no form for them. */
export const securityKeyLogin: LoginMethod = {
  id: type,
  aals: ['aal2'],
  claims: (fields, method) => method === type || textField(fields, 'webauthn_login') !== '',
  async nodes(app, { type: flowType, session, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !session || !party) return []
    const stored = await findKeys(app.database.db, session.session.identityId, type)
    if (!stored) return []
    const question = asked(context) ?? askForProof(party, { keys: stored.keys, passkey: false })
    remember(context, type, { question })
    return [
      input('default', 'identifier', 'hidden', { value: emailOf(session.person.identity.traits).toLowerCase() }),
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
    const refuse = (message: ReturnType<typeof messages.generic>) =>
      ({ kind: 'refused', found: new Map([['', [message]]]) }) as const
    if (flow.type !== 'browser' || !party) return refuse(messages.loginMethodUnknown())
    if (!answer || !session) return refuse(messages.generic('The answer of the security key cannot be read.'))
    const { identityId } = session.session
    const { question } = await takeOut<Memory>(app, flow, type)
    const guess = await countGuess(app, ctx, {
      kind: 'code',
      subject: `second factor ${identityId}`,
      identityId: () => identityId,
    })
    const problem = await app.database.transaction(async (tx) => {
      const stored = await findKeys(tx, identityId, type, { lock: true })
      const key = stored?.keys.find(({ id }) => id === answer.id)
      if (!stored) return factorMessages.noWebauthn()
      const counter = key && question ? await acceptProof(party, answer, question.challenge, key) : undefined
      if (counter === undefined) return factorMessages.webauthnWrong()
      const keys = stored.keys.map((other) => (other === key ? { ...other, counter } : other))
      await saveConfig(tx, identityId, type, { ...stored, keys })
      return undefined
    })
    if (problem) return refuse(problem)
    await guess.right()
    return { kind: 'proven', identityId, method: type, aal: 'aal2' }
  },
}

export const securityKeySettings: SettingsMethod = {
  id: type,
  claims: (fields) => textField(fields, 'webauthn_register') !== '' || textField(fields, 'webauthn_remove') !== '',
  async nodes(app, { type: flowType, person, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !party) return []
    const { identity } = person
    const known = (await findKeys(app.database.db, identity.id, type))?.keys ?? []
    const userHandle = Buffer.from(identity.id.replaceAll('-', ''), 'hex')
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
  async submit(app, { ctx, type: flowType, fields, flow, person, context }) {
    const party = relyingParty(app)
    if (flowType !== 'browser' || !party) return refusedWith(messages.settingsMethodUnknown())
    const identityId = person.identity.id
    const answer = textField(fields, 'webauthn_register')
    if (answer === '') {
      const name = textField(fields, 'webauthn_remove')
      const stored = await findKeys(app.database.db, identityId, type)
      if (!stored) return refusedWith(messages.generic('You have no security key that could be removed.'))
      if (!stored.keys.some((key) => keyName(key) === name))
        return refusedWith(messages.generic('There is no such security key.'))
      return {
        kind: 'changed',
        async write(tx) {
          const now = await findKeys(tx, identityId, type, { lock: true })
          const keys = now?.keys.filter((key) => keyName(key) !== name) ?? []
          if (now && keys.length > 0) await saveConfig(tx, identityId, type, { ...now, keys })
          else await removeConfig(tx, identityId, type)
          await recordSecurityEvent(tx, app, ctx, person, { event: 'factor-removed', factor: 'a security key' })
          return undefined
        },
      }
    }
    if (!isNewKey(answer)) return refusedWith(messages.generic('The answer of the security key cannot be read.'))
    const { question } = await takeOut<Memory>(app, flow, type)
    context.methods = flow.context.methods
    const key = question && (await acceptNewKey(party, answer, question.challenge))
    if (!key) return refusedWith(messages.generic('The security key could not be added. Please try again.'))
    const name = textField(fields, 'webauthn_register_displayname').trim().slice(0, 100)
    const userHandle = Buffer.from(identityId.replaceAll('-', ''), 'hex').toString('base64url')
    return {
      kind: 'changed',
      proves: type,
      async write(tx) {
        const now = await findKeys(tx, identityId, type, { lock: true })
        const others = now?.keys.filter(({ id }) => id !== key.id) ?? []
        await saveConfig(tx, identityId, type, { userHandle, keys: [...others, { ...key, name }] })
        await recordSecurityEvent(tx, app, ctx, person, { event: 'factor-added', factor: 'a security key' })
        return undefined
      },
    }
  },
}

/** The options that the flow has sent already. An error elsewhere in the form does not change them. */
function asked(context: Parameters<typeof recall>[0]): Question | undefined {
  return recall<Memory>(context, type).question
}
