import { generateKeyPairSync, verify } from 'node:crypto'
import { type Registry, startTokenRegistry } from '@crux/test-kit'
import { type ServiceAnswer, startJsonService } from './json-service.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
export const serviceAccount = {
  user: 'reader@company.iam.gserviceaccount.com',
  token: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
}
/** A valid key that belongs to no account of the service. */
export const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

export type GoogleListing = { child?: string[]; manifest?: Record<string, object>; tags?: string[] }

/**
 * Google's token service, which verifies the signature and claims of an assertion, and a registry of Google: the real registry with the lists
 * of tags that Google extends, behind its token authentication.
 *
 * @param listings by path; a path that is missing is answered as unknown
 */
export async function startGoogle(real: Registry, listings: Record<string, GoogleListing>) {
  const minted: string[] = []
  const accessToken = 'ya29.short-lived'
  const oauth = await startJsonService(({ url, body }): ServiceAnswer => {
    const form = new URLSearchParams(body)
    const refuse = (error_description: string) => ({ status: 400, body: { error: 'invalid_grant', error_description } })
    if (url.pathname !== '/token' || form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
      return { status: 400, body: { error: 'unsupported_grant_type' } }
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    if (!verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url')))
      return refuse('Invalid JWT Signature.')
    const { iss, aud, iat, exp, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<
      string,
      unknown
    >
    if (iss !== serviceAccount.user) return refuse('Invalid grant: account not found')
    if (aud !== url.href || Number(exp) - Number(iat) > 3_600) return refuse('Invalid JWT')
    minted.push(String(scope))
    return { status: 200, body: { access_token: accessToken, expires_in: 3_599, token_type: 'Bearer' } }
  })
  const registry = await startTokenRegistry(real, {
    account: { user: 'oauth2accesstoken', token: accessToken },
    answer(incoming, outgoing) {
      const url = new URL(incoming.url ?? '/', 'http://google')
      const path = /^\/v2\/(.+)\/tags\/list$/.exec(url.pathname)?.[1]
      if (path === undefined || incoming.headers.authorization === undefined) return false
      const listing = listings[path]
      const json = { 'content-type': 'application/json' }
      if (!listing)
        outgoing
          .writeHead(404, json)
          .end(JSON.stringify({ errors: [{ code: 'NAME_UNKNOWN', message: `Repository ${path} not found` }] }))
      else
        outgoing.writeHead(200, json).end(JSON.stringify({ child: [], manifest: {}, tags: [], ...listing, name: path }))
      return true
    },
  })
  return {
    tokenUrl: `${oauth.url}/token`,
    registryUrl: `http://${registry.host}`,
    accessToken,
    /** The scopes of each access token. */
    minted,
    stop: async () => {
      await Promise.all([oauth.stop(), registry.stop()])
    },
  }
}
