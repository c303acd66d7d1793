import type { App } from '../app/app.ts'
import type { Executor } from '../db/database.ts'
import type { SettingsAttempt, SettingsOutcome } from '../flows/settings-method.ts'
import { type LoginMethod, refusedWith } from '../flows/sign-in-method.ts'
import { textField } from '../http/body.ts'
import { findConfig, removeConfig, saveConfig, saveIdentifiers } from '../identities/credentials.ts'
import { guessSecondFactor } from '../limits/guesses.ts'
import { recordSecurityEvent } from '../security/events.ts'
import { type Message, messages } from '../ui/messages.ts'
import { input, submitButton } from '../ui/nodes.ts'
import { recall, remember } from './memory.ts'

/** A second factor with a typed code: that of an authenticator app, or a backup code. */
export interface CodeFactor<Config extends object> {
  type: 'totp' | 'lookup_secret'
  /** The form field of the code. */
  field: string
  /** The name in UI texts: "an authenticator app". */
  name: string
  label: () => Message
  button: () => Message
  /** The message for users who do not have this factor. */
  none: () => Message
  /**
   * Uses a code up, in the transaction that has locked the row of the factor.
   *
   * @returns the problem of the code, if there is one
   */
  spend(
    tx: Executor,
    app: App,
    owned: { identityId: string; config: Config; code: string },
  ): Promise<Message | undefined>
}

export function codeFactorLogin<Config extends object>(factor: CodeFactor<Config>): LoginMethod {
  const { type, field } = factor
  return {
    id: type,
    aals: ['aal2'],
    async nodes(app, { session, context }) {
      if (!session || !(await findConfig(app.database.db, session.identityId, type))) return []
      // The value is empty at first and absent after an attempt, as in Ory Kratos.
      const value = recall(context, type).tried ? undefined : ''
      return [
        input(type, field, 'text', { value, required: true, label: factor.label() }),
        submitButton(type, factor.button()),
      ]
    },
    async check(app, ctx, { flow, fields, session }) {
      remember(flow.context, type, { tried: true })
      const code = textField(fields, field)
      if (code === '') return refusedWith(messages.required(field), field)
      // The login flow requests a second factor only when there is a session.
      if (!session) return refusedWith(factor.none())
      const { identityId } = session
      const guess = await guessSecondFactor(app, ctx, identityId)
      // The row is locked, so each code works once, also with concurrent requests.
      const wrong = await app.database.transaction(async (tx) => {
        const config = await findConfig<Config>(tx, identityId, type, { lock: true })
        return config ? factor.spend(tx, app, { identityId, config, code }) : factor.none()
      })
      if (wrong) return refusedWith(wrong)
      await guess.right()
      return { kind: 'proven', identityId, method: type, aal: 'aal2' }
    },
  }
}

/** The change of the settings that adds or replaces the factor. */
export function addFactor<Config extends object>(
  app: App,
  { type, name }: CodeFactor<Config>,
  { ctx, user }: SettingsAttempt,
  config: object,
): SettingsOutcome {
  const identityId = user.id
  return {
    kind: 'changed',
    proves: type,
    async write(tx) {
      await saveConfig(tx, identityId, type, { ...config })
      await saveIdentifiers(tx, identityId, type, [identityId])
      await recordSecurityEvent(tx, app, ctx, user, { event: 'factor-added', factor: name })
      return undefined
    },
  }
}

export function removeFactor<Config extends object>(
  app: App,
  { type, name }: CodeFactor<Config>,
  { ctx, user }: SettingsAttempt,
): SettingsOutcome {
  return {
    kind: 'changed',
    async write(tx) {
      await removeConfig(tx, user.id, type)
      await recordSecurityEvent(tx, app, ctx, user, { event: 'factor-removed', factor: name })
      return undefined
    },
  }
}
