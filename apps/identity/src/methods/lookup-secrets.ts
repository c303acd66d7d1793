import { randomBytes } from 'node:crypto'
import type { App } from '../app/app.ts'
import { sameSecret } from '../crypto/secrets.ts'
import type { SettingsMethod } from '../flows/settings-method.ts'
import { refusedWith } from '../flows/sign-in-method.ts'
import type { Fields } from '../http/body.ts'
import { findConfig, saveConfig } from '../identities/credentials.ts'
import { messages } from '../ui/messages.ts'
import { input, type Node, sealed, text } from '../ui/nodes.ts'
import { addFactor, type CodeFactor, codeFactorLogin, removeFactor } from './code-factor.ts'
import { factorMessages } from './factor-messages.ts'
import { forget, recall, remember } from './memory.ts'

const type = 'lookup_secret'
const codesPerUser = 12
const lettersPerCode = 8

/** Codes are encrypted instead of hashed, because their owner can display them again. */
interface LookupConfig {
  codes: { sealed: string; usedAt: string | null }[]
}

interface Code {
  code: string
  usedAt: Date | undefined
}

const factor: CodeFactor<LookupConfig> = {
  type,
  field: 'lookup_secret',
  name: 'backup codes',
  label: factorMessages.labelLoginLookup,
  button: factorMessages.loginLookup,
  none: factorMessages.noLookup,
  async spend(tx, app, { identityId, config, code: typed }) {
    const { codes } = config
    const wanted = typed.trim().toLowerCase()
    // All codes are compared, so that the response time does not reveal which one matched.
    const index = readCodes(app, identityId, codes).reduce(
      (found, { code }, at) => (sameSecret(code, wanted) ? at : found),
      -1,
    )
    const entry = codes[index]
    if (!entry) return factorMessages.lookupWrong()
    if (entry.usedAt !== null) return factorMessages.lookupUsed()
    await saveConfig(tx, identityId, type, { codes: codes.with(index, { ...entry, usedAt: new Date().toISOString() }) })
    return undefined
  },
}

export const lookupLogin = codeFactorLogin(factor)

/** The action of a button. The form has one button per action, and `method` alone does not name one. */
type Action = 'confirm' | 'reveal' | 'disable' | 'regenerate'
const actions: Action[] = ['confirm', 'reveal', 'disable', 'regenerate']

export const lookupSettings: SettingsMethod = {
  id: type,
  claims: (fields) => getAction(fields) !== undefined,
  async nodes(app, { user, context }) {
    const identityId = user.id
    const memory = recall(context, type)
    if (Array.isArray(memory.newCodes)) {
      const codes = memory.newCodes.map((code) => ({ code: open(app, identityId, String(code)), usedAt: undefined }))
      return [codesNode(app, codes), button('confirm', factorMessages.confirmLookup())]
    }
    const config = await findConfig<LookupConfig>(app.database.db, identityId, type)
    if (!config) return [button('regenerate', factorMessages.regenerateLookup())]
    const disable = button('disable', factorMessages.disableLookup())
    if (memory.revealed !== true) return [button('reveal', factorMessages.revealLookup()), disable]
    return [
      button('regenerate', factorMessages.regenerateLookup()),
      codesNode(app, readCodes(app, identityId, config.codes)),
      disable,
    ]
  },
  async submit(app, attempt) {
    const { fields, user, context } = attempt
    const identityId = user.id
    switch (getAction(fields)) {
      case 'regenerate': {
        const newCodes = Array.from({ length: codesPerUser }, () => app.keys.seal(newCode(), lockKey(identityId)))
        remember(context, type, { newCodes })
        return { kind: 'shown' }
      }
      case 'reveal': {
        if (!(await findConfig(app.database.db, identityId, type)))
          return refusedWith(messages.generic('You have no backup codes that could be shown.'))
        forget(context, type)
        remember(context, type, { revealed: true })
        return { kind: 'shown' }
      }
      case 'disable':
        forget(context, type)
        return removeFactor(app, factor, attempt)
      case 'confirm': {
        const { newCodes } = recall(context, type)
        if (!Array.isArray(newCodes))
          return refusedWith(messages.generic('New backup codes must be made before they can be kept.'))
        forget(context, type)
        const config: LookupConfig = { codes: newCodes.map((code) => ({ sealed: String(code), usedAt: null })) }
        return addFactor(app, factor, attempt, config)
      }
      case undefined:
        return refusedWith(messages.generic('The form does not say what to do with the backup codes.'))
    }
  },
}

function getAction(fields: Fields): Action | undefined {
  return actions.find((action) => String(fields[`${type}_${action}`]) === 'true')
}

function button(action: Action, label: ReturnType<typeof factorMessages.revealLookup>): Node {
  return input(type, `${type}_${action}`, 'submit', { value: 'true', label })
}

function codesNode(app: App, codes: Code[]): Node {
  const shown = codes.map(({ code, usedAt }) =>
    usedAt ? factorMessages.lookupCodeUsed(usedAt) : factorMessages.lookupCode(code),
  )
  return sealed(
    app.keys,
    text(type, 'lookup_secret_codes', factorMessages.lookupCodes(shown), factorMessages.lookupLabel()),
  )
}

function readCodes(app: App, identityId: string, codes: LookupConfig['codes']): Code[] {
  return codes.map((entry) => ({
    code: open(app, identityId, entry.sealed),
    usedAt: entry.usedAt === null ? undefined : new Date(entry.usedAt),
  }))
}

const open = (app: App, identityId: string, value: string) => app.keys.open(value, lockKey(identityId))
const lockKey = (identityId: string) => `lookup ${identityId}`

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

function newCode(): string {
  let code = ''
  while (code.length < lettersPerCode) {
    // Bytes from 252 on are dropped: 256 is not a multiple of 36, so the first letters would occur more often.
    for (const byte of randomBytes(16)) if (byte < 252 && code.length < lettersPerCode) code += letters[byte % 36]
  }
  return code
}
