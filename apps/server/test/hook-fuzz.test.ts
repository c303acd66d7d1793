import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { arbitraryJson, rawRequester } from '@crux/test-kit'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { githubEvent, harborCloudEvent, harborEvent, hubEvent, signGithub, toDigest } from './kit/hook-payloads.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam } from './kit/index.ts'

/** Every run sends the same bodies; CRUX_TEST_SEED sets another seed. A failure names the body, reduced to a minimum. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_123)
const bodiesPerKind = process.env.CRUX_TEST_FULL ? 10_000 : 100
const bytesMax = 1_048_576

type Kind = 'v2' | 'hub' | 'github' | 'harbor'
type Target = { url: string; registryId: string; headers: (body: string) => Record<string, string> }
let crux: TestServer
let ada: Someone
let team: TestTeam
let wire: ReturnType<typeof rawRequester>
const targets = {} as Record<Kind, Target>

beforeAll(async () => {
  // Requests to this port are refused at once, and so is every question to Docker Hub.
  crux = await startTestServer({ config: { hubRegistryUrl: 'http://127.0.0.1:9' } })
  wire = rawRequester(crux.url)
  ada = crux.signUp()
  team = await crux.createTeam(ada)
  for (const kind of ['v2', 'hub', 'github', 'harbor'] as const) targets[kind] = await makeTarget(kind)
})
afterAll(async () => {
  wire?.close()
  await crux?.stop()
})

async function makeTarget(kind: Kind): Promise<Target> {
  const { rows } = await crux.app.database.pool.query<{ id: string }>(
    `insert into crux.registry (team_id, name, type, url, created_by, updated_by)
     values ($1, $2, $3, 'registry.example.com', 'test', 'test') returning id`,
    [team.id, kind, kind === 'harbor' ? 'v2' : kind],
  )
  const registryId = rows[0]?.id ?? ''
  const params = { teamSlug: team.slug, registryId }
  const { call } = crux.client(ada)
  if (kind === 'v2') {
    const { token } = await call('registries.create-token', { params, body: {} })
    const url = `/api/${team.slug}/registries/${registryId}/hooks/v2`
    return { url, registryId, headers: () => ({ authorization: `Bearer ${token}` }) }
  }
  const { url, secret } = await call('registries.create-hook-secret', { params: { ...params, kind } })
  const headers = (body: string): Record<string, string> => {
    if (kind === 'harbor') return { authorization: secret }
    if (kind === 'hub') return {}
    return { 'x-github-event': 'package', 'x-hub-signature-256': signGithub(secret, body) }
  }
  return { url: url.replace(crux.url, ''), registryId, headers }
}

const image = { owner: 'octo-org', project: 'library', name: 'web', tag: 'latest', digest: toDigest('web') }
const examples: Record<Kind, unknown[]> = {
  v2: [
    {
      events: [
        {
          id: 'e',
          action: 'push',
          target: { repository: 'web', tag: '1', digest: image.digest },
          request: { useragent: 'docker' },
        },
      ],
    },
  ],
  hub: [hubEvent('octo-org/web', 'latest', 1_417_566_161)],
  github: [githubEvent('package', image)],
  harbor: [
    harborEvent('PUSH_ARTIFACT', image),
    harborCloudEvent('harbor.artifact.deleted', image, '66e18103-09c1-41f6-982f-37df223f3eeb'),
  ],
}

/** The JSON schema of an example, in which every text is one of the example's or an odd one. */
function toSchema(value: unknown): Record<string, unknown> {
  if (Array.isArray(value)) return { type: 'array', items: toSchema(value[0]) }
  if (typeof value !== 'object' || value === null) return { type: value === null ? 'null' : typeof value }
  const properties = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toSchema(part)]))
  return { type: 'object', properties, required: Object.keys(properties) }
}
const collectTexts = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(Object(value) as object).flatMap(collectTexts)

const monsters = [
  `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
  `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  `{"type":"x","a":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
  `{"events":[${'{},'.repeat(50_000)}{}]}`,
  `{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
  `{"type":"${'x'.repeat(1_000_000)}"}`,
  '{"__proto__":{"type":"PUSH_ARTIFACT"}}',
  '{"constructor":{"prototype":{"type":"PUSH_ARTIFACT"}}}',
  '{"type":"constructor"}',
  '{"type":"\\u0000","action":"\\ud800"}',
]
const arbitraryBody = (kind: Kind) =>
  fc.oneof(
    {
      weight: 40,
      arbitrary: fc.oneof(...examples[kind].map((example) => arbitraryJson(toSchema(example), collectTexts(example)))),
    },
    { weight: 2, arbitrary: fc.constantFrom(...examples[kind]).map((example) => JSON.stringify(example)) },
    { weight: 1, arbitrary: fc.constantFrom(...monsters) },
  )
const send = (target: Pick<Target, 'url'>, headers: Record<string, string>, body: string) =>
  wire.send({ method: 'POST', target: target.url, headers: { 'content-type': 'application/json', ...headers }, body })
const countRows = async ({ registryId }: Target) =>
  (await crux.app.database.pool.query('select from crux.registry_delivery where registry_id = $1', [registryId]))
    .rowCount ?? 0

describe.each(['v2', 'hub', 'github', 'harbor'] as const)('arbitrary bodies for the hook %s', (kind) => {
  const timeout = bodiesPerKind * 100 + 60_000

  it('are accepted or refused as the fault of the sender, also when they are repeated', { timeout }, async () => {
    const target = targets[kind]
    await fc.assert(
      fc.asyncProperty(arbitraryBody(kind), async (body) => {
        const sent = body.toWellFormed()
        const { status, text } = await send(target, target.headers(sent), sent)
        if (![204, 400, 413].includes(status)) throw new Error(`answered ${status}: ${text.slice(0, 500)}`)
        const rows = await countRows(target)
        if (rows > 100) throw new Error(`keeps ${rows} deliveries`)
        if (status !== 204 || kind === 'v2') return
        const [last] = await crux.client(ada).call('registries.list-deliveries', { params: toParams(target) })
        expect((await send(target, target.headers(sent), sent)).status).toBe(204)
        const [again] = await crux.client(ada).call('registries.list-deliveries', { params: toParams(target) })
        expect(again?.id).toBe(last?.id)
      }),
      { seed, numRuns: bodiesPerKind },
    )
  })

  it('are refused and never listed when nothing proves their sender', { timeout }, async () => {
    const target = await makeUnproven(kind)
    await fc.assert(
      fc.asyncProperty(arbitraryBody(kind), async (body) => {
        const sent = body.toWellFormed()
        const { status, text } = await send(target, target.headers(`${sent} `), sent)
        // After a hundred failed attempts the limit of the address answers.
        if (![401, 413, 429].includes(status)) throw new Error(`answered ${status}: ${text.slice(0, 500)}`)
      }),
      { seed, numRuns: bodiesPerKind },
    )
    expect(await countRows(target)).toBe(0)
  })
})

const toParams = ({ registryId }: Target) => ({ teamSlug: team.slug, registryId })

/** A registry with a secret, and requests that do not have it. */
async function makeUnproven(kind: Kind): Promise<Target> {
  await crux.app.database.pool.query(`update crux.registry set name = name || gen_random_uuid()`)
  const target = await makeTarget(kind)
  if (kind === 'hub') return { ...target, url: `${target.url}x` }
  if (kind === 'github') return target
  return { ...target, headers: () => ({ authorization: targets.harbor.headers('').authorization ?? '' }) }
}

it('the largest bodies, proven or not, do not stay in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const usedBytes = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = usedBytes()
  const statuses = new Set<number>()
  for (let round = 0; round < 15; round++)
    for (const kind of ['v2', 'hub', 'github', 'harbor'] as const) {
      const { url, headers } = targets[kind]
      const filled = (length: number) => `{"type":"${round}","x":"${'x'.repeat(length)}"}`
      const [largest, larger] = [filled(bytesMax - 40), filled(bytesMax)]
      statuses.add((await send({ url }, headers(largest), largest)).status)
      statuses.add((await send({ url }, headers(''), largest)).status)
      expect((await send({ url }, headers(larger), larger)).status).toBe(413)
    }
  expect([...statuses].filter((status) => status >= 500)).toEqual([])
  // More than a hundred MiB were sent.
  expect(usedBytes() - before).toBeLessThan(40 * bytesMax)
})
