import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { CruxError } from '@crux/contract'
import type { Outbound } from '@crux/service-kit'
import { rateLimited } from './rate-limit.ts'
import { parseJson, refusedCredentials, timeoutMs, unreachable } from './registry-api.ts'

/** Tokens for reading only: what they can reach does not grow with the rights of the service account. */
const scopes = [
  'https://www.googleapis.com/auth/cloud-platform.read-only',
  'https://www.googleapis.com/auth/devstorage.read_only',
].join(' ')
/** The longest life that Google grants. */
const assertionSeconds = 3_600

/** The user name under which the registries of Google accept an access token as password. */
export const googleTokenUser = 'oauth2accesstoken'

export type ServiceAccount = { user: string; token: string }

/**
 * Exchanges the key of a service account for an access token (RFC 7523).
 *
 * @param account `token` is the private key as the key file has it
 * @throws CruxError invalidArgument `token` for a text that is no private key, registryUnauthorized `token` when Google refuses the key
 */
export async function mintGoogleToken(
  outbound: Outbound,
  tokenUrl: string,
  account: ServiceAccount,
): Promise<{ token: string; ttlMs: number }> {
  const issuedAt = Math.floor(Date.now() / 1_000)
  const claims = {
    iss: account.user,
    scope: scopes,
    aud: tokenUrl,
    iat: issuedAt,
    exp: issuedAt + assertionSeconds,
  }
  const assertion = signJwt(claims, readPrivateKey(account.token))
  const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const response = await outbound
    .request(tokenUrl, { method: 'POST', headers, body: body.toString(), timeoutMs })
    .catch((error: unknown) => Promise.reject(unreachable(error, 'token')))
  const limited = rateLimited(response, new URL(tokenUrl).host)
  if (limited) throw limited
  const { access_token: token, expires_in: seconds } = parseJson(response.body)
  // Google answers 400 `invalid_grant` for an unknown account and a revoked key.
  if (response.status === 400 || response.status === 401 || response.status === 403)
    throw refusedCredentials('token', 'Google refuses the key of this service account.')
  if (response.status !== 200 || typeof token !== 'string')
    throw new CruxError('invalidArgument', {
      property: 'token',
      description: `${new URL(tokenUrl).host} did not issue an access token (${response.status}).`,
    })
  return { token, ttlMs: (typeof seconds === 'number' && seconds > 0 ? seconds : 60) * 1_000 }
}

/**
 * The key file of a service account, of which only these parts are stored. The same key makes the same text.
 *
 * @throws CruxError invalidArgument `token` for a text that is no private key
 */
export const toGoogleKeyFile = ({ token, user }: ServiceAccount, tokenUrl: string): string =>
  JSON.stringify({
    type: 'service_account',
    private_key: readPrivateKey(token).export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email: user,
    token_uri: tokenUrl,
  })

/** @throws CruxError invalidArgument `token` */
export function readPrivateKey(text: string): KeyObject {
  const [, label, content] = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----(.*?)-----END/s.exec(text) ?? []
  try {
    // The line ends are lost in a field of one line, and are `\n` when the key is copied out of the JSON file.
    const lines = (content ?? '').replace(/\\n|\s/g, '').match(/.{1,64}/g) ?? []
    const key = createPrivateKey([`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n'))
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The error of OpenSSL could contain parts of the text.
  }
  throw new CruxError('invalidArgument', {
    property: 'token',
    description: 'This is not an RSA private key in PEM format: enter the private_key of the key file.',
  })
}

function signJwt(claims: object, key: KeyObject): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const content = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`
}
