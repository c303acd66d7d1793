import { generateSecret, generateURI, verifySync } from 'otplib/functional'
import type { App } from '../app/app.ts'
import type { SettingsMethod } from '../flows/settings-method.ts'
import { refusedWith } from '../flows/sign-in-method.ts'
import { textField } from '../http/body.ts'
import { findConfig, saveConfig } from '../identities/credentials.ts'
import { getEmail } from '../identities/traits.ts'
import { messages } from '../ui/messages.ts'
import { image, input, sealed, submitButton, text } from '../ui/nodes.ts'
import { addFactor, type CodeFactor, codeFactorLogin, removeFactor } from './code-factor.ts'
import { factorMessages } from './factor-messages.ts'
import { forget, recall, remember } from './memory.ts'

const type = 'totp'

/** RFC 6238 with the parameters that every authenticator app supports: SHA-1, six digits, 30 s. Clocks may differ by one step. */
const periodSeconds = 30

/** The stored data of an authenticator app: the encrypted secret, and the last step whose code was used. */
interface TotpConfig {
  sealedSecret: string
  lastStep: number
}

const factor: CodeFactor<TotpConfig> = {
  type,
  field: 'totp_code',
  name: 'an authenticator app',
  label: factorMessages.labelLoginTotp,
  button: factorMessages.loginTotp,
  none: factorMessages.noTotp,
  // A code works once: its time step and all earlier ones are used up with it.
  async spend(tx, app, { identityId, config, code }) {
    const { sealedSecret, lastStep } = config
    const step = getStep(app.keys.open(sealedSecret, lockKey(identityId)), code, lastStep)
    if (step === undefined) return factorMessages.totpWrong()
    await saveConfig(tx, identityId, type, { sealedSecret, lastStep: step })
    return undefined
  },
}

export const totpLogin = codeFactorLogin(factor)

export const totpSettings: SettingsMethod = {
  id: type,
  claims: (fields, method) => method === type || isTrue(fields.totp_unlink),
  async nodes(app, { user, context }) {
    const identityId = user.id
    if (await findConfig(app.database.db, identityId, type))
      return [
        input(type, 'totp_unlink', 'submit', { value: 'true', required: true, label: factorMessages.unlinkTotp() }),
      ]
    let secret = openSecret(app, identityId, recall(context, type).secret)
    if (secret === undefined) {
      secret = generateSecret()
      remember(context, type, { secret: app.keys.seal(secret, lockKey(identityId)) })
    }
    const uri = generateURI({ issuer: 'Crux', label: getEmail(user.traits), secret })
    const { toDataURL } = await import('qrcode')
    const qr = await toDataURL(uri, { width: 256, margin: 2, errorCorrectionLevel: 'M' })
    return [
      sealed(app.keys, image(type, 'totp_qr', { src: qr, width: 256, height: 256 }, factorMessages.totpQr())),
      sealed(
        app.keys,
        text(type, 'totp_secret_key', factorMessages.totpSecret(secret), factorMessages.totpSecretLabel()),
      ),
      input(type, 'totp_code', 'text', { required: true, label: factorMessages.labelVerifyTotp() }),
      submitButton(type, messages.labelSave()),
    ]
  },
  async submit(app, attempt) {
    const { fields, user, context } = attempt
    const identityId = user.id
    if (await findConfig(app.database.db, identityId, type))
      return isTrue(fields.totp_unlink) ? removeFactor(app, factor, attempt) : { kind: 'shown' }
    const code = textField(fields, 'totp_code')
    if (code === '') return refusedWith(messages.required('totp_code'), 'totp_code')
    const secret = openSecret(app, identityId, recall(context, type).secret)
    const step = secret === undefined ? undefined : getStep(secret, code, 0)
    if (secret === undefined || step === undefined) return refusedWith(factorMessages.totpWrong(), 'totp_code')
    forget(context, type)
    const config: TotpConfig = { sealedSecret: app.keys.seal(secret, lockKey(identityId)), lastStep: step }
    return addFactor(app, factor, attempt, config)
  },
}

/** The time step of `code`, if it is close to the current one and after `lastStep`. */
function getStep(secret: string, code: string, lastStep: number): number | undefined {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return undefined
  const result = verifySync({ secret, token, period: periodSeconds, epochTolerance: periodSeconds })
  if (!result.valid || !('timeStep' in result) || result.timeStep <= lastStep) return undefined
  return result.timeStep
}

function openSecret(app: App, identityId: string, value: unknown): string | undefined {
  return typeof value === 'string' ? app.keys.open(value, lockKey(identityId)) : undefined
}

const lockKey = (identityId: string) => `totp ${identityId}`

function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}
