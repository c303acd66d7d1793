import { randomBytes } from 'node:crypto'
import { type Keys, sameSecret } from '../crypto/secrets.ts'
import { deviceCookieName } from '../http/request-context.ts'

/** The number of users per browser. The user whose last sign-in is the oldest is removed first. */
const usersMax = 5
const part = '[A-Za-z0-9_-]{22}'
const shape = new RegExp(`^${part}(?:\\.${part}){1,${usersMax}}$`)

export type DeviceReader = { cookie(name: string): string | undefined }
type DeviceWriter = DeviceReader & { setDeviceCookie(value: string): void }

/**
 * Whether a user has signed in to this account with this browser before. The cookie contains a random number and a signature for each account. It
 * gives no access, reveals nothing, and is invalid for another account.
 */
export async function isKnownDevice(
  keys: Keys,
  ctx: DeviceReader,
  identityId: () => Promise<string | undefined> | string | undefined,
): Promise<boolean> {
  const [device, ...signatures] = read(ctx)
  const owner = device && (await identityId())
  if (!device || !owner) return false
  const expected = sign(keys, device, owner)
  return signatures.filter((signature) => sameSecret(signature, expected)).length > 0
}

/** Called after a complete sign-in with the second factor, because a password alone must not give further guesses at the second factor. */
export function rememberDevice(keys: Keys, ctx: DeviceWriter, identityId: string): void {
  const [known, ...signatures] = read(ctx)
  const device = known ?? randomBytes(16).toString('base64url')
  const own = sign(keys, device, identityId)
  const others = signatures.filter((signature) => signature !== own)
  ctx.setDeviceCookie([device, own, ...others.slice(0, usersMax - 1)].join('.'))
}

function read(ctx: DeviceReader): string[] {
  const value = ctx.cookie(deviceCookieName) ?? ''
  return shape.test(value) ? value.split('.') : []
}

const sign = (keys: Keys, device: string, identityId: string): string =>
  keys.sign('device', device, identityId).subarray(0, 16).toString('base64url')
