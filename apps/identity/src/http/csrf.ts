import { randomBytes } from 'node:crypto'
import { sameSecret, sha256 } from '../crypto/secrets.ts'

const tokenBytes = 32

/** The name of the cookie is derived from the public address, so that two installations on one host do not collide. */
export function csrfCookieName(publicUrl: string): string {
  return `csrf_token_${sha256(publicUrl).toString('hex')}`
}

export function newCsrfToken(): Buffer {
  return randomBytes(tokenBytes)
}

/** The token of a csrf cookie; undefined without a cookie or when it does not have the expected format. */
export function parseCsrfCookie(value: string | undefined): Buffer | undefined {
  if (value === undefined || !/^[A-Za-z0-9+/]{43}=$/.test(value)) return undefined
  return Buffer.from(value, 'base64')
}

/**
 * Masks `token` into 88 base64 characters: a one-time pad and the token combined with it. Every answer contains another text, so that compressed
 * answers do not reveal the token (BREACH).
 */
export function mask(token: Buffer): string {
  const pad = randomBytes(tokenBytes)
  return Buffer.concat([pad, xor(token, pad)]).toString('base64')
}

/** Whether `masked`, from a form, matches the `token` of the browser. */
export function matchesMask(masked: unknown, token: Buffer | undefined): boolean {
  if (typeof masked !== 'string' || !token || !/^[A-Za-z0-9+/]{86}==$/.test(masked)) return false
  const bytes = Buffer.from(masked, 'base64')
  const sent = xor(bytes.subarray(0, tokenBytes), bytes.subarray(tokenBytes))
  return sameSecret(sent.toString('hex'), token.toString('hex'))
}

/** The hash that a flow stores of the token of its browser. */
export function csrfHash(token: Buffer): string {
  return sha256(token).toString('hex')
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))
}
