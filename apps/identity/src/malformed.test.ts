import { type FuzzRequest, fuzzRequests, rawRequester } from '@crux/test-kit'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminToken, signUp, startTestIdentity, type TestIdentity, type TestUser } from '../test/identity.ts'
import { adminRoutes } from './admin/routes.ts'
import type { Routes } from './http/routes.ts'
import { publicRoutes } from './public-routes.ts'

/** Every run sends the same requests; CRUX_TEST_SEED selects another seed. A failure reports the request in its smallest form. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_121)
const requestsPerRoute = process.env.CRUX_TEST_FULL ? 1_000 : 10
const timeoutMs = requestsPerRoute * 250 + 20_000

let identity: TestIdentity
let user: TestUser
let sessionId: string
let ends: Record<'public' | 'admin', ReturnType<typeof rawRequester>>

beforeAll(async () => {
  identity = await startTestIdentity()
  ends = { public: rawRequester(identity.publicUrl), admin: rawRequester(identity.adminUrl) }
})
afterAll(async () => {
  ends?.public.close()
  ends?.admin.close()
  await identity?.stop()
})

/** Paths and methods, without a running service. */
const getRoutes = (routes: Routes) =>
  Object.entries(routes).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method === 'any' ? 'GET' : method, path] as const),
  )
const text = { type: 'string' }
const query = {
  type: 'object',
  properties: Object.fromEntries(
    [
      ...[
        'flow',
        'code',
        'token',
        'aal',
        'refresh',
        'return_to',
        'via',
        'id',
        'tokenize_as',
        'active',
        'expand',
        'ids',
      ],
      ...[
        'page',
        'per_page',
        'page_size',
        'page_token',
        'credentials_identifier',
        'include_credential',
        'organization',
      ],
      ...[
        'init_code',
        'return_to_code',
        'after_verification_return_to',
        'login_challenge',
        'identifier',
        'consistency',
      ],
    ].map((name) => [name, text]),
  ),
}
const methods = ['password', 'code', 'link', 'profile', 'totp', 'lookup_secret', 'webauthn', 'passkey', 'oidc', 'none']
const traits = {
  type: 'object',
  properties: {
    email: { type: 'string', format: 'email' },
    name: { type: 'object', properties: { first: text, last: text } },
  },
}
const submission = {
  type: 'object',
  required: ['method'],
  properties: {
    method: { enum: methods },
    ...Object.fromEntries(
      [
        ...[
          'csrf_token',
          'identifier',
          'password',
          'code',
          'email',
          'resend',
          'totp_code',
          'lookup_secret',
          'provider',
        ],
        ...['webauthn_register', 'webauthn_register_displayname', 'webauthn_login', 'webauthn_remove', 'passkey_login'],
        ...['passkey_register', 'passkey_remove', 'passkey_settings_register', 'link', 'unlink', 'id_token', 'screen'],
      ].map((name) => [name, text]),
    ),
    ...Object.fromEntries(
      ['totp_unlink', 'lookup_secret_regenerate', 'lookup_secret_reveal', 'lookup_secret_confirm'].map((name) => [
        name,
        { type: 'boolean' },
      ]),
    ),
    traits,
    transient_payload: {},
  },
}
const identityWrite = {
  type: 'object',
  required: ['schema_id', 'traits'],
  properties: {
    schema_id: { enum: ['default', 'other'] },
    state: { enum: ['active', 'inactive', 'odd'] },
    traits,
    credentials: {
      type: 'object',
      properties: {
        password: {
          type: 'object',
          properties: { config: { type: 'object', properties: { hashed_password: text, password: text } } },
        },
        oidc: { type: 'object', properties: { config: {} } },
        webauthn: {},
      },
    },
    metadata_public: {},
    metadata_admin: {},
    verifiable_addresses: {
      type: 'array',
      items: { type: 'object', properties: { value: text, via: text, status: text } },
    },
    recovery_addresses: { type: 'array', items: { type: 'object', properties: { value: text, via: text } } },
  },
}
const patches = {
  type: 'array',
  items: {
    type: 'object',
    required: ['op', 'path'],
    properties: {
      op: { enum: ['add', 'replace', 'remove', 'move', 'copy', 'test'] },
      path: {
        enum: [
          '/traits',
          '/traits/email',
          '/traits/name/first',
          '/state',
          '/credentials',
          '/metadata_public',
          '/-',
          '/x/0',
        ],
      },
      from: { enum: ['/traits', '', '/traits/name'] },
      value: {},
    },
  },
}
const batch = {
  type: 'object',
  properties: {
    identities: { type: 'array', items: { type: 'object', properties: { create: identityWrite, patch_id: text } } },
  },
}
const recovery = { type: 'object', properties: { identity_id: { type: 'string', format: 'uuid' }, expires_in: text } }
const getBody = (method: string, path: string): Record<string, unknown> => {
  if (path.startsWith('/self-service')) return submission
  if (path.includes('recovery')) return recovery
  if (method === 'PATCH') return path.endsWith('/identities') ? batch : patches
  return identityWrite
}

/** Signs in again when previous requests ended the session. */
async function refresh(): Promise<void> {
  const whoami = user && (await identity.frontend.toSession({ xSessionToken: user.token }))
  if (whoami?.status === 200) return
  user = await signUp(identity)
  sessionId = (await identity.frontend.toSession({ xSessionToken: user.token })).data.id
}

async function flowsOfAll(): Promise<string[]> {
  const kinds = ['login', 'registration', 'verification', 'recovery', 'settings']
  const begun = await Promise.all(
    kinds.map((kind) =>
      ends.public.send({
        method: 'GET',
        target: `/self-service/${kind}/api`,
        headers: kind === 'settings' ? { 'x-session-token': user.token } : {},
      }),
    ),
  )
  return begun.map((answer) => (JSON.parse(answer.text) as { id: string }).id)
}

/** Half of the JSON bodies are sent as forms, as browsers do. */
function asForm(request: FuzzRequest): FuzzRequest {
  try {
    const fields: unknown = JSON.parse(request.body ?? '')
    if (typeof fields !== 'object' || fields === null) return request
    const flat = (value: unknown, name: string): [string, string][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => flat(inner, name === '' ? key : `${name}.${key}`))
        : [[name, String(value)]]
    const headers = { ...request.headers, 'content-type': 'application/x-www-form-urlencoded' }
    return { ...request, headers, body: new URLSearchParams(flat(fields, '')).toString() }
  } catch {
    return request
  }
}

const isReadable = ({ body, headers }: FuzzRequest): boolean => {
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return body !== undefined && body !== ''
  if (headers['content-type']?.split(';')[0] !== 'application/json') return false
  try {
    return typeof JSON.parse(body ?? '') === 'object'
  } catch {
    return false
  }
}

describe.each(['public', 'admin'] as const)('malformed requests to the %s API', (side) => {
  const routes = side === 'public' ? publicRoutes({} as never) : adminRoutes({} as never)

  it.each(getRoutes(routes))(
    '%s %s are answered without a server error',
    async (method, path) => {
      await refresh()
      const words = [...(await flowsOfAll()), user.id, user.email, user.token, sessionId]
      const known = { id: /session/.test(path) ? sessionId : user.id, type: 'password' }
      const credentials = fc.constantFrom<Record<string, string>>(
        ...(side === 'admin'
          ? [{ authorization: `Bearer ${adminToken}` }]
          : [{}, { 'x-session-token': user.token }, { authorization: `Bearer ${user.token}` }]),
      )
      const requests = fc
        .tuple(
          fuzzRequests({ method, path, query, body: getBody(method, path) }, { known, words }),
          credentials,
          fc.boolean(),
        )
        .map(([request, shown, form]) => {
          const signed = { ...request, headers: { ...request.headers, ...shown } }
          return form && path.startsWith('/self-service') ? asForm(signed) : signed
        })
      await fc.assert(
        fc.asyncProperty(requests, async (request) => {
          const answer = await ends[side].send(request)
          if (answer.status >= 500) throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 500)}`)
          if (/json/.test(String(answer.headers['content-type']))) JSON.parse(answer.text)
          const submits = method === 'POST' && path.startsWith('/self-service')
          if (submits && !isReadable(request)) expect(answer.status).toBeGreaterThanOrEqual(300)
        }),
        { seed, numRuns: requestsPerRoute },
      )
      const alive = await ends[side].send({ method: 'GET', target: '/health/ready', headers: {} })
      expect(alive.status).toBe(200)
    },
    timeoutMs,
  )
})
