import { parseConfig } from '@crux/service-kit'
import type { Session } from '@ory/kratos-client'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { consoleUrl, signUp, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { tokenTemplates } from '../config/token-templates.ts'

const templates = {
  api: { ttl: '5m', audience: 'a service', claims: { email: 'identity.traits.email', none: 'identity.traits.phone' } },
  long: { ttl: '24h' },
}

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity({ WHOAMI_TOKENS: JSON.stringify(templates) })
})
afterAll(() => identity.stop())

async function tokenize(token: string, template: string) {
  return identity.browser({ 'x-session-token': token }).ask<Session>(`/sessions/whoami?tokenize_as=${template}`)
}

async function check(token: string, options: { audience?: string } = {}) {
  const { json: keys } = await identity.browser().ask<JSONWebKeySet>('/.well-known/jwks.json')
  return jwtVerify(token, createLocalJWKSet(keys), { issuer: `${consoleUrl}/kratos`, ...options })
}

it('tokenize_as returns a session as a token that any service can verify with the published keys', async () => {
  const { id, email, token } = await signUp(identity)
  const { json: session } = await tokenize(token, 'api')
  const { payload, protectedHeader } = await check(session.tokenized ?? '', { audience: 'a service' })
  expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JWT' })
  expect(payload).toMatchObject({ sub: id, sid: session.id, email })
  expect(payload).not.toHaveProperty('none')
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300)
})

it('tokenize_as creates no token that outlives its session', async () => {
  const { token } = await signUp(identity)
  await identity.sql(`update identity.sessions set expires_at = now() + interval '1 hour'`)
  const { json: session } = await tokenize(token, 'long')
  const { payload } = await check(session.tokenized ?? '')
  expect(payload.exp).toBeLessThanOrEqual(Math.ceil(new Date(session.expires_at ?? 0).getTime() / 1000))
})

it('tokenize_as uses one key for all tokens, publishes no private half, and stores it encrypted', async () => {
  const { token } = await signUp(identity)
  await tokenize(token, 'api')
  await tokenize(token, 'long')
  const { json } = await identity.browser().ask<JSONWebKeySet>('/.well-known/jwks.json')
  expect(json.keys).toHaveLength(1)
  expect(json.keys[0]).not.toHaveProperty('d')
  const [row] = await identity.sql<{ sealed_key: string }>('select sealed_key from identity.signing_keys')
  expect(row?.sealed_key).not.toContain('"d"')
})

it('tokenize_as signs with a new key after 90 days and still publishes the previous one', async () => {
  const { token } = await signUp(identity)
  const before = (await tokenize(token, 'long')).json.tokenized ?? ''
  await identity.sql(`update identity.signing_keys set created_at = created_at - interval '91 days'`)
  const after = (await tokenize(token, 'long')).json.tokenized ?? ''
  const getKeyId = async (jwt: string) => (await check(jwt)).protectedHeader.kid
  expect(await getKeyId(after)).not.toBe(await getKeyId(before))
})

it('tokenize_as refuses unknown templates, also names that every object has', async () => {
  const { token } = await signUp(identity)
  expect((await tokenize(token, 'none')).status).toBe(400)
  expect((await tokenize(token, 'constructor')).status).toBe(400)
})

it.each(['{', '[]', '{"a":{"ttl":"10"}}', '{"a":{"ttl":"25h"}}', '{"a":{"claims":{"sub":"id"}}}', '{"a":{"more":1}}'])(
  'the service does not start with an invalid template setting: %s',
  (text) => {
    const settings = z.object({ WHOAMI_TOKENS: tokenTemplates })
    expect(() => parseConfig(settings, { WHOAMI_TOKENS: text })).toThrow('WHOAMI_TOKENS')
  },
)
