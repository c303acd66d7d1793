import { createHash, randomBytes } from 'node:crypto'

/** Tokens are opaque, 32 random bytes. Only the hash is stored, and its index lookup is the comparison. */
export const makeToken = (): string => `crux_${randomBytes(32).toString('base64url')}`

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** Identifies public keys: only the agent that exchanged an install token may repeat the exchange. */
export const fingerprint = (publicKey: string): string =>
  createHash('sha256').update(publicKey.trim()).digest('base64url')

/** The token of an `Authorization: Bearer` header; undefined when there is none of ours. */
export function bearerToken(header: string | string[] | null | undefined): string | undefined {
  const match = /^Bearer (crux_[\w-]{43})$/i.exec(typeof header === 'string' ? header.trim() : '')
  return match?.[1]
}
