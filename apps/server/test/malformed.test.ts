import { contract, type EndpointSpec, type Operation } from '@crux/contract'
import { type FuzzRequest, fuzzRequests, type RawAnswer, rawRequester } from '@crux/test-kit'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startServerAndIdentity } from './kit/identity.ts'
import type { Someone } from './kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from './kit/test-environment.ts'

/** Every run sends the same requests; CRUX_TEST_SEED sets another seed. A failure names the request, reduced to a minimum. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_121)
const requestsPerEndpoint = process.env.CRUX_TEST_FULL ? 1_000 : 20

let system: Awaited<ReturnType<typeof startServerAndIdentity>>
let owner: Someone
let testEnvironment: TestEnvironment
let wire: ReturnType<typeof rawRequester>

beforeAll(async () => {
  system = await startServerAndIdentity({ people: true })
  owner = system.crux.signUp('Owner')
  testEnvironment = await makeTestEnvironment(system.crux, owner)
  wire = rawRequester(system.crux.url)
})
afterAll(async () => {
  wire?.close()
  await system?.stop()
})

const getRow = (operation: Operation): EndpointSpec => contract[operation]
const jsonSchema = (schema: z.ZodType | undefined) =>
  schema && (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-7' }) as object)

/** Whether the request has the shape that the contract requires. */
function isWellFormed(row: EndpointSpec, request: FuzzRequest): boolean {
  if (row.query && !row.query.safeParse(request.query).success) return false
  if (!row.body) return true
  return row.body.safeParse(parsed(request)).success
}
function parsed({ body, headers }: FuzzRequest): unknown {
  if (body === undefined || body === '' || !/^application\/([\w.+-]+\+)?json/.test(headers['content-type'] ?? ''))
    return undefined
  try {
    // A byte order mark before JSON may be ignored (RFC 8259, 8.1), and the server ignores it.
    return JSON.parse(body.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

describe('malformed requests', () => {
  it.each(Object.keys(contract) as Operation[])(
    'to %s are answered, and never with a server error',
    async (operation) => {
      const row = getRow(operation)
      const known: Record<string, string> = {
        ...testEnvironment,
        prefix: 'shop',
        name: 'web',
        number: '1',
        kind: 'github',
        secret: 'none',
      }
      const requests = fuzzRequests(
        { method: row.method, path: row.path, query: jsonSchema(row.query), body: jsonSchema(row.body) } as never,
        { known, words: Object.values(testEnvironment), headers: { authorization: `Bearer ${owner.token}` } },
      )
      // A completely valid request would have effects: agents started, resources deleted. Reads and requests without a
      // team are harmless.
      const harmless = (request: FuzzRequest) =>
        row.method === 'GET' || !row.path.includes(':') || request.unknown.length > 0 || !isWellFormed(row, request)
      await fc.assert(
        fc.asyncProperty(requests.filter(harmless), async (request) => judge(row, request, await wire.send(request))),
        { seed, numRuns: requestsPerEndpoint },
      )
      expect((await wire.send({ method: 'GET', target: '/health', headers: {} })).status).toBe(200)
    },
    requestsPerEndpoint * 200 + 20_000,
  )
})

describe('malformed requests beside the API', () => {
  const rows = [
    '/health',
    '/health/ready',
    '/metrics',
    '/api/openapi.json',
    '/api/swagger',
    '/api/:one',
    '/api/:one/:two',
  ].map((path) => ['GET', path] as const)
  const relayed = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'].map((method) => [method, '/kratos/:one/:two'] as const)
  const files = ['/:one', '/assets/:one', '/fonts/:one/:two', '/:one/:two/:three'].map((path) => ['GET', path] as const)
  it.each([...rows, ...relayed, ...files])(
    '%s %s are answered, and never with a server error',
    async (method, path) => {
      const known = { one: 'self-service', two: 'login' }
      const requests = fuzzRequests({ method, path }, { known, headers: { authorization: `Bearer ${owner.token}` } })
      await fc.assert(
        fc.asyncProperty(requests, async (request) => {
          const { status, text } = await wire.send(request)
          if (status >= 500) throw new Error(`answered ${status}: ${text.slice(0, 500)}`)
        }),
        { seed, numRuns: requestsPerEndpoint },
      )
    },
    requestsPerEndpoint * 200 + 20_000,
  )
})

function judge(row: EndpointSpec, request: FuzzRequest, answer: RawAnswer): void {
  const { status, text } = answer
  if (status >= 500 || status < 200) throw new Error(`answered ${status}: ${text.slice(0, 500)}`)
  if (!isWellFormed(row, request) && status < 400) throw new Error(`took it, with ${status}`)
  if (status < 400) return
  const error = JSON.parse(text) as Record<string, unknown>
  expect(error).toMatchObject({ status, error: expect.any(String), description: expect.any(String) })
}
