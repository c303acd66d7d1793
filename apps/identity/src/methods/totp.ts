import { generateSecret, generateURI, verifySync } from 'otplib/functional'
import type { App } from '../context.ts'
import { messages } from '../flows/messages.ts'
import { image, input, sealed, text } from '../flows/nodes.ts'
import type { SettingsMethod } from '../flows/settings-method.ts'
import type { LoginMethod, LoginOutcome } from '../flows/sign-in-method.ts'
import { textField } from '../http/body.ts'
import { findConfig, removeConfig, saveConfig, saveIdentifiers } from '../identities/credentials.ts'
import { emailOf } from '../identities/traits.ts'
import { noteSecurityEvent } from '../security/events.ts'
import { factorMessages } from './factor-messages.ts'
import { forget, recall, remember } from './memory.ts'

const type = 'totp'

/** RFC 6238 with what every authenticator app knows: SHA-1, six digits, 30 s; clocks may be one step apart. */
const periodSeconds = 30

/** What an identity keeps of its app: the secret, encrypted, and the last step whose code was used. */
interface TotpConfig {
  sealedSecret: string
  lastStep: number
}

export const totpLogin: LoginMethod = {
  id: type,
  aals: ['aal2'],
  async nodes(app, { session, context }) {
    if (!session || !(await findConfig(app.database.db, session.session.identityId, type))) return []
    // As the original: empty at first, without a value once something was typed.
    const value = recall(context, type).tried ? undefined : ''
    return [
      input(type, 'totp_code', 'text', { value, required: true, label: factorMessages.labelLoginTotp() }),
      input(type, 'method', 'submit', { value: type, label: factorMessages.loginTotp() }),
    ]
  },
  async check(app, _visit, { flow, fields, session }) {
    remember(flow.context, type, { tried: true })
    const code = textField(fields, 'totp_code')
    if (code === '') return { kind: 'refused', found: new Map([['totp_code', [messages.required('totp_code')]]]) }
    // The frame asks for a second factor only where there is a session.
    if (!session) return { kind: 'refused', found: new Map([['', [factorMessages.noTotp()]]]) }
    return checkCode(app, session.session.identityId, code)
  },
}

export const totpSettings: SettingsMethod = {
  id: type,
  claims: (fields, method) => method === type || isTrue(fields.totp_unlink),
  async nodes(app, { person, context }) {
    const identityId = person.identity.id
    if (await findConfig(app.database.db, identityId, type))
      return [
        input(type, 'totp_unlink', 'submit', { value: 'true', required: true, label: factorMessages.unlinkTotp() }),
      ]
    let secret = openSecret(app, identityId, recall(context, type).secret)
    if (secret === undefined) {
      secret = generateSecret()
      remember(context, type, { secret: app.keys.seal(secret, place(identityId)) })
    }
    const uri = generateURI({ issuer: 'Crux', label: emailOf(person.identity.traits), secret })
    const { toDataURL } = await import('qrcode')
    const qr = await toDataURL(uri, { width: 256, margin: 2, errorCorrectionLevel: 'M' })
    return [
      sealed(app.keys, image(type, 'totp_qr', { src: qr, width: 256, height: 256 }, factorMessages.totpQr())),
      sealed(
        app.keys,
        text(type, 'totp_secret_key', factorMessages.totpSecret(secret), factorMessages.totpSecretLabel()),
      ),
      input(type, 'totp_code', 'text', { required: true, label: factorMessages.labelVerifyTotp() }),
      input(type, 'method', 'submit', { value: type, label: messages.labelSave() }),
    ]
  },
  async submit(app, { visit, fields, person, context }) {
    const identityId = person.identity.id
    if (await findConfig(app.database.db, identityId, type)) {
      if (!isTrue(fields.totp_unlink)) return { kind: 'shown' }
      return {
        kind: 'changed',
        async write(tx) {
          await removeConfig(tx, identityId, type)
          await noteSecurityEvent(tx, app, visit, person, { event: 'factor-removed', factor: 'an authenticator app' })
          return undefined
        },
      }
    }
    const code = textField(fields, 'totp_code')
    if (code === '') return { kind: 'refused', found: new Map([['totp_code', [messages.required('totp_code')]]]) }
    const secret = openSecret(app, identityId, recall(context, type).secret)
    const step = secret === undefined ? undefined : stepOf(secret, code, 0)
    if (secret === undefined || step === undefined)
      return { kind: 'refused', found: new Map([['totp_code', [factorMessages.totpWrong()]]]) }
    forget(context, type)
    const config: TotpConfig = { sealedSecret: app.keys.seal(secret, place(identityId)), lastStep: step }
    return {
      kind: 'changed',
      proves: type,
      async write(tx) {
        await saveConfig(tx, identityId, type, { ...config })
        await saveIdentifiers(tx, identityId, type, [identityId])
        await noteSecurityEvent(tx, app, visit, person, { event: 'factor-added', factor: 'an authenticator app' })
        return undefined
      },
    }
  },
}

/** A code proves something once: its step, and all before it, are used up with it. */
async function checkCode(app: App, identityId: string, code: string): Promise<LoginOutcome> {
  const account = `second factor ${identityId}`
  await app.limiter.take('account', account)
  const answer = await app.database.transaction(async (tx) => {
    const config = (await findConfig(tx, identityId, type, { lock: true })) as TotpConfig | undefined
    if (!config) return factorMessages.noTotp()
    const step = stepOf(app.keys.open(config.sealedSecret, place(identityId)), code, config.lastStep)
    if (step === undefined) return factorMessages.totpWrong()
    await saveConfig(tx, identityId, type, { ...config, lastStep: step })
    return undefined
  })
  if (answer) return { kind: 'refused', found: new Map([['', [answer]]]) }
  await app.limiter.reset('account', account)
  return { kind: 'proven', identityId, method: type, aal: 'aal2' }
}

/** The time step that `code` belongs to, if that is around now and after `lastStep`. */
function stepOf(secret: string, code: string, lastStep: number): number | undefined {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return undefined
  const result = verifySync({ secret, token, period: periodSeconds, epochTolerance: periodSeconds })
  if (!result.valid || !('timeStep' in result) || result.timeStep <= lastStep) return undefined
  return result.timeStep
}

function openSecret(app: App, identityId: string, value: unknown): string | undefined {
  return typeof value === 'string' ? app.keys.open(value, place(identityId)) : undefined
}

const place = (identityId: string) => `totp ${identityId}`

function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}
