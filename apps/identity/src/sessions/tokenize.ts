import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { App } from '../app/app.ts'
import { isObject } from '../http/body.ts'
import { badRequest } from '../http/errors.ts'
import type { Signed } from './current.ts'
import { currentSigningKey, signingAlgorithm } from './signing-keys.ts'
import { showSession } from './wire.ts'

/**
 * Converts a session to a signed token (JWT) for services that cannot call whoami. It has a short lifespan because it cannot be revoked.
 *
 * @throws IdentityError 400 for a template that is not configured
 */
export async function tokenizeSession(app: App, signed: Signed, template: string): Promise<string> {
  const templates = app.config.WHOAMI_TOKENS
  const found = Object.hasOwn(templates, template) ? templates[template] : undefined
  if (!found) throw badRequest(`Unable to find tokenizer template "${template}".`)
  const shown = showSession(signed, app)
  const now = Math.floor(Date.now() / 1000)
  const claims = Object.fromEntries(
    Object.entries(found.claims).flatMap(([name, path]) => {
      const value = valueAt(shown, path)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const { id, key } = await currentSigningKey(app)
  const token = new SignJWT({ ...claims, sid: signed.id })
    .setProtectedHeader({ alg: signingAlgorithm, kid: id, typ: 'JWT' })
    .setIssuer(app.publicUrl)
    .setSubject(signed.identityId)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(Math.min(now + found.ttl, Math.floor(signed.expiresAt.getTime() / 1000)))
  if (found.audience !== undefined) token.setAudience(found.audience)
  return token.sign(key)
}

function valueAt(shown: unknown, path: string): unknown {
  let value = shown
  for (const part of path.split('.')) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value
}
