import dns from 'node:dns'
import { createServer } from 'node:http'
import {
  freePort,
  type Registry,
  registryAccount,
  startRegistry,
  startTokenRegistry,
  type TokenRegistry,
} from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { RegistryDigests } from '../src/engines/images/registry-digests.ts'
import { startTestEnvironment, type TestEnvironment, webImage } from './kit/index.ts'

let open: Registry
let digest: string
let digests: RegistryDigests
const running = new AbortController().signal
const { user: username, token: password } = registryAccount
const account = (host: string) => ({ serverAddress: host, username, password })
const ask = (host: string, options: { reference?: string; auth?: Parameters<RegistryDigests['find']>[1] } = {}) =>
  digests.find({ name: `${host}/group/web`, reference: options.reference ?? '1' }, options.auth, running)

beforeAll(async () => {
  open = await startRegistry()
  digest = await open.push('group/web', '1', webImage('one'))
})
afterAll(() => open.remove())
afterEach(() => digests.close())

describe('a request of the agent to a registry', () => {
  test('returns the digest of a tag, or confirms a digest', async () => {
    digests = new RegistryDigests()
    expect(await ask(open.host)).toBe(digest)
    expect(await ask(open.host, { reference: digest })).toBe(digest)
    expect(await ask(open.host, { reference: 'unknown' })).toBeUndefined()
    expect(await ask(open.host, { reference: `sha256:${'0'.repeat(64)}` })).toBeUndefined()
  })

  test('uses basic credentials where the registry requires them and returns nothing for wrong or missing ones', async () => {
    digests = new RegistryDigests()
    const closed = await startRegistry({ auth: true })
    try {
      const own = await closed.push('group/web', '1', webImage('closed'))
      expect(await ask(closed.host)).toBeUndefined()
      expect(await ask(closed.host, { auth: { ...account(closed.host), password: 'wrong' } })).toBeUndefined()
      expect(await ask(closed.host, { auth: account(closed.host) })).toBe(own)
      // The credentials of one request must not be reused for the next.
      expect(await ask(closed.host)).toBeUndefined()
      expect(await ask(closed.host, { auth: { ...account(closed.host), password: 'wrong' } })).toBeUndefined()
    } finally {
      await closed.remove()
    }
  })

  test('uses a token for exactly this image where the registry requires tokens', async () => {
    digests = new RegistryDigests()
    const tokens = await startTokenRegistry(open)
    try {
      expect(await ask(tokens.host)).toBeUndefined()
      expect(await ask(tokens.host, { auth: account(tokens.host) })).toBe(digest)
      expect(tokens.realmCalls.map(({ scope }) => scope)).toEqual(Array(2).fill('repository:group/web:pull'))
    } finally {
      await tokens.stop()
    }
  })

  test('sends its credentials to no other site that the registry names', async () => {
    digests = new RegistryDigests()
    const looked = vi.spyOn(dns, 'lookup')
    const hostile = await startTokenRegistry(open, { realm: 'https://collector.example/token' })
    try {
      expect(await ask(hostile.host, { auth: account(hostile.host) })).toBeUndefined()
      expect(looked.mock.calls.map(([hostname]) => hostname)).not.toContain('collector.example')
      // Without credentials it requests a token there: this registry names that site for tokens.
      expect(await ask(hostile.host)).toBeUndefined()
      expect(looked.mock.calls.map(([hostname]) => hostname)).toContain('collector.example')
    } finally {
      looked.mockRestore()
      await hostile.stop()
    }
  })

  test.each<[string, number, Record<string, string>]>([
    ['no digest', 200, { 'content-type': 'application/vnd.oci.image.manifest.v1+json' }],
    [
      'a digest that is none',
      200,
      { 'content-type': 'application/vnd.oci.image.manifest.v1+json', 'docker-content-digest': 'sha256:../x' },
    ],
    ['a page', 200, { 'content-type': 'text/html', 'docker-content-digest': `sha256:${'a'.repeat(64)}` }],
    ['another address', 307, { location: '/elsewhere', 'docker-content-digest': `sha256:${'a'.repeat(64)}` }],
    ['a failure', 503, { 'docker-content-digest': `sha256:${'a'.repeat(64)}` }],
    ['an unknown way to sign in', 401, { 'www-authenticate': 'Negotiate' }],
    ['a sign-in at no address', 401, { 'www-authenticate': 'Bearer realm="%%"' }],
  ])('accepts only a digest as the answer: %s', async (_, status, headers) => {
    digests = new RegistryDigests()
    const asked: string[] = []
    const odd = await startTokenRegistry(open, {
      answer(incoming, outgoing) {
        asked.push(incoming.url ?? '')
        outgoing.writeHead(status, headers).end()
        return true
      },
    })
    try {
      expect(await ask(odd.host, { auth: account(odd.host) })).toBeUndefined()
      expect(asked).toEqual(['/v2/group/web/manifests/1'])
    } finally {
      await odd.stop()
    }
  })

  test.each([
    '1/../../../secret/app/manifests/1',
    '../../other/manifests/1',
    '1?x',
    '1#x',
    '%2e%2e',
    '..',
    '',
    'a b',
    'sha256:1',
  ])('sends no request for the reference %j, which is not a tag or digest', async (reference) => {
    digests = new RegistryDigests()
    const tokens = await startTokenRegistry(open)
    try {
      expect(await ask(tokens.host, { reference, auth: account(tokens.host) })).toBeUndefined()
      expect([tokens.requests, tokens.realmCalls]).toEqual([[], []])
      // The registry itself stays in use.
      expect(await ask(tokens.host, { auth: account(tokens.host) })).toBe(digest)
    } finally {
      await tokens.stop()
    }
  })

  test('leaves an unreachable registry to the engine for a while', async () => {
    digests = new RegistryDigests()
    const port = await freePort()
    expect(await ask(`localhost:${port}`)).toBeUndefined()
    const asked: string[] = []
    const late = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve))
    try {
      expect(await ask(`localhost:${port}`)).toBeUndefined()
      expect(asked).toEqual([])
    } finally {
      late.close()
    }
  })
})

describe('a release', () => {
  let testEnvironment: TestEnvironment
  let before: TokenRegistry | undefined
  beforeAll(async () => {
    testEnvironment = await startTestEnvironment()
  })
  afterEach(async () => {
    await testEnvironment.clear()
    await before?.stop()
  })
  afterAll(() => testEnvironment.dispose())
  const byEngine = ({ userAgent }: TokenRegistry['requests'][number]) => userAgent.startsWith('docker/')
  const deploy = (host: string) =>
    testEnvironment.server.deployAndWait(
      testEnvironment.release({
        instances: [{ image: `${host}/web:1`, auth: account(host), config: { name: 'web' } }],
      }),
    )

  test('of a present image costs its registry one request and its token but no manifest', async () => {
    await testEnvironment.registry.push('web', '1', webImage('asked'))
    before = await startTokenRegistry(testEnvironment.registry)
    expect(await deploy(before.host)).toMatchObject({ successful: true, reason: '' })
    const first = before.requests.length
    expect(await deploy(before.host)).toMatchObject({ successful: true, reason: '' })
    const again = before.requests.slice(first)
    expect(again.filter(byEngine)).toEqual([])
    expect(again.map(({ line }) => line)).toEqual(Array(2).fill('HEAD /v2/web/manifests/1'))
  })

  test("uses the engine's answer where the agent gets none", async () => {
    await testEnvironment.registry.push('web', '1', webImage('by the engine'))
    before = await startTokenRegistry(testEnvironment.registry, {
      // It answers only the engine, like a registry behind a proxy that is configured in the engine alone.
      answer: (incoming) => !(incoming.headers['user-agent'] ?? '').startsWith('docker/'),
    })
    expect(await deploy(before.host)).toMatchObject({ successful: true, reason: '' })
    expect(before.requests.filter(byEngine).length).toBeGreaterThan(0)
    expect(before.requests.filter((one) => !byEngine(one)).length).toBeGreaterThan(0)
  })
})
