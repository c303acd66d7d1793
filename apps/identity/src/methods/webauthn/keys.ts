import type { App } from '../../app/app.ts'
import type { SettingsAttempt, SettingsMethod, SettingsOutcome } from '../../flows/settings-method.ts'
import { refusedWith } from '../../flows/sign-in-method.ts'
import { textField } from '../../http/body.ts'
import { removeConfig, saveConfig, saveIdentifiers } from '../../identities/credentials.ts'
import type { User } from '../../identities/store.ts'
import { recordSecurityEvent } from '../../security/events.ts'
import { type Message, messages } from '../../ui/messages.ts'
import { factorMessages } from '../factor-messages.ts'
import { countFirstFactors, requireAnotherFirstFactor } from '../first-factors.ts'
import { takeMemory } from '../memory.ts'
import { acceptNewKey, acceptProof, isNewKey, type Proof, type Question } from './ceremony.ts'
import { type RelyingParty, relyingParty } from './relying-party.ts'
import { findKeys, type KeyType, keyName } from './stored-keys.ts'

/** How the settings add and delete the keys of one type. */
export interface KeyKind {
  type: KeyType
  /** The noun of UI texts: "passkey". */
  noun: string
  /** The form fields of a new key and of the key to delete. */
  registerField: string
  removeField: string
  /** The form field of the name of a new key, where keys have one. */
  nameField?: string
  /** The user handle of new keys; where it is absent, the flow has stored one. */
  userHandle?: (user: User) => string
  /** Whether a key signs in alone, so that the last way to sign in has to be kept. Otherwise it is a second factor. */
  isFirstFactor: boolean
}

/** The state in a flow: the options that were sent, and the user handle of a new passkey. */
export interface KeyMemory {
  question?: Question
  userHandle?: string
}

export const unreadable = ({ noun }: KeyKind) => messages.generic(`The answer of the ${noun} cannot be read.`)
export const notAdded = ({ noun }: KeyKind) => messages.generic(`The ${noun} could not be added. Please try again.`)

/**
 * Verifies the answer of a key and stores its new counter, in one transaction that locks the keys of the identity.
 *
 * @returns the problem of the answer, if there is one
 */
export async function useKey(
  app: App,
  party: RelyingParty,
  { identityId, type }: { identityId: string; type: KeyType },
  answer: Proof,
  question: Question | undefined,
): Promise<Message | undefined> {
  return app.database.transaction(async (tx) => {
    const stored = await findKeys(tx, identityId, type, { lock: true })
    if (!stored) return factorMessages.noWebauthn()
    const key = stored.keys.find(({ id }) => id === answer.id)
    const counter = key && question && (await acceptProof(party, answer, question.challenge, key))
    if (counter === undefined) return factorMessages.webauthnWrong()
    const keys = stored.keys.map((other) => (other === key ? { ...other, counter } : other))
    await saveConfig(tx, identityId, type, { ...stored, keys })
    return undefined
  })
}

/** Adds the key of the submit, or deletes the one that it names. */
export function submitKey(kind: KeyKind): SettingsMethod['submit'] {
  const { type, noun } = kind
  return async (app, attempt) => {
    const { ctx, fields, flow, user, context } = attempt
    const party = relyingParty(app)
    if (attempt.type !== 'browser' || !party) return refusedWith(messages.settingsMethodUnknown())
    const answer = textField(fields, kind.registerField)
    if (answer === '') return removeKey(app, kind, attempt)
    if (!isNewKey(answer)) return refusedWith(unreadable(kind))
    const memory = await takeMemory<KeyMemory>(app, flow, type)
    context.methods = flow.context.methods
    const userHandle = kind.userHandle?.(user) ?? memory.userHandle
    const key = memory.question && (await acceptNewKey(party, answer, memory.question.challenge))
    if (!key || userHandle === undefined) return refusedWith(notAdded(kind))
    const name = kind.nameField ? textField(fields, kind.nameField).trim().slice(0, 100) : ''
    const identityId = user.id
    return {
      kind: 'changed',
      proves: kind.isFirstFactor ? undefined : type,
      async write(tx) {
        const now = await findKeys(tx, identityId, type, { lock: true })
        const others = now?.keys.filter(({ id }) => id !== key.id) ?? []
        await saveConfig(tx, identityId, type, { userHandle, keys: [...others, { ...key, name }] })
        if (kind.isFirstFactor) await saveIdentifiers(tx, identityId, type, [userHandle])
        await recordSecurityEvent(tx, app, ctx, user, { event: 'factor-added', factor: `a ${noun}` })
        return undefined
      },
    }
  }
}

async function removeKey(app: App, kind: KeyKind, { ctx, fields, user }: SettingsAttempt): Promise<SettingsOutcome> {
  const { type, noun, isFirstFactor } = kind
  const identityId = user.id
  const name = textField(fields, kind.removeField)
  const stored = await findKeys(app.database.db, identityId, type)
  if (!stored) return refusedWith(messages.generic(`You have no ${noun} that could be removed.`))
  if (!stored.keys.some((key) => keyName(key) === name))
    return refusedWith(messages.generic(`There is no such ${noun}.`))
  if (isFirstFactor && (await countFirstFactors(app, app.database.db, identityId)) < 2)
    return refusedWith(messages.generic(`This ${noun} is your last way to sign in, so it cannot be removed.`))
  return {
    kind: 'changed',
    async write(tx) {
      if (isFirstFactor) await requireAnotherFirstFactor(tx, app, identityId)
      const now = await findKeys(tx, identityId, type, { lock: true })
      const keys = now?.keys.filter((key) => keyName(key) !== name) ?? []
      if (now && keys.length > 0) await saveConfig(tx, identityId, type, { ...now, keys })
      else await removeConfig(tx, identityId, type)
      await recordSecurityEvent(tx, app, ctx, user, { event: 'factor-removed', factor: `a ${noun}` })
      return undefined
    },
  }
}
