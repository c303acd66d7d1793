import type { BodyInput } from '@crux/contract'
import { type Registry, registryAccount, startRegistry, startTokenRegistry, type TokenRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hubAccount, startHub } from '../../test/kit/hub.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { readDigest } from './index.ts'

let real: Registry
let guarded: Registry
let hub: Awaited<ReturnType<typeof startHub>>
let hubRegistry: TokenRegistry
let crux: TestServer
let ada: Someone
let team: TestTeam
let pushed: string

beforeAll(async () => {
  ;[hub, real, guarded] = await Promise.all([startHub(), startRegistry(), startRegistry({ auth: true })])
  hubRegistry = await startTokenRegistry(real, { account: hubAccount })
  crux = await startTestServer({ config: { hubUrl: hub.url, hubRegistryUrl: `http://${hubRegistry.host}` } })
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
  pushed = await real.push('person/secret-app', '1.0', {})
})
afterAll(async () => {
  await crux.stop()
  await Promise.all([hub.stop(), hubRegistry.stop(), real.remove(), guarded.remove()])
})

async function create(type: 'v2' | 'hub', details: object): Promise<string> {
  const body = { name: `Registry ${Math.random()}`, type, details } as BodyInput<'registries.create'>
  const { id } = await crux.client(ada).call('registries.create', { params: { teamSlug: team.slug }, body })
  return id
}

describe('the digest of a tag', () => {
  it('is that of the manifest in a registry with basic credentials', async () => {
    const digest = await guarded.push('group/web', '1.0', {})
    const details = { url: guarded.host, imageNamePrefix: 'group', public: false, ...registryAccount }
    const id = await create('v2', details)
    expect(await readDigest(crux.app, team, id, 'web', '1.0')).toBe(digest)
    const next = await guarded.push('group/web', '1.0', { labels: { version: 'next' } })
    expect(next).not.toBe(digest)
    expect(await readDigest(crux.app, team, id, 'web', '1.0')).toBe(next)
  })

  it('is undefined for a tag or an image that does not exist', async () => {
    const id = await create('v2', { url: real.host, public: true })
    expect(await readDigest(crux.app, team, id, 'person/secret-app', '2.0')).toBeUndefined()
    expect(await readDigest(crux.app, team, id, 'person/none', '1.0')).toBeUndefined()
  })

  it('comes from the registry of Docker Hub, with a token for the stored account', async () => {
    const id = await create('hub', { imageNamePrefix: 'person', public: false, ...hubAccount })
    expect(await readDigest(crux.app, team, id, 'secret-app', '1.0')).toBe(pushed)
    expect(hubRegistry.requests.at(-1)?.line).toBe('HEAD /v2/person/secret-app/manifests/1.0')
    expect(hubRegistry.realmCalls.at(-1)?.scope).toBe('repository:person/secret-app:pull')
  })

  it('is refused to a caller without credentials by a message that says so', async () => {
    const id = await create('hub', { imageNamePrefix: 'person', public: true })
    await expect(readDigest(crux.app, team, id, 'secret-app', '1.0')).rejects.toMatchObject({
      code: 'registryUnauthorized',
      message: expect.stringContaining('without credentials'),
    })
  })

  it('is hashed from the manifest where the registry sends no header for it', async () => {
    const bare = await startTokenRegistry(real, { account: null, without: ['docker-content-digest'] })
    const id = await create('v2', { url: bare.host, public: true })
    expect(await readDigest(crux.app, team, id, 'person/secret-app', '1.0')).toBe(pushed)
    await bare.stop()
  })

  it('is answered with the seconds to wait while the registry limits requests', async () => {
    const limited = await startTokenRegistry(real, {
      account: null,
      answer(incoming, outgoing) {
        if (incoming.method !== 'HEAD') return false
        outgoing.writeHead(429, { 'retry-after': '90' }).end()
        return true
      },
    })
    const id = await create('v2', { url: limited.host, public: true })
    await expect(readDigest(crux.app, team, id, 'person/secret-app', '1.0')).rejects.toMatchObject({
      code: 'registryRateLimit',
      retryAfterS: 90,
      message: `${limited.host} answers that there were too many requests. Try again in 90 seconds.`,
    })
    await limited.stop()
  })

  it('is not read with the credential of another team', async () => {
    const id = await create('v2', { url: real.host, public: true })
    const stranger = crux.signUp()
    const theirs = await crux.createTeam(stranger)
    await expect(readDigest(crux.app, theirs, id, 'person/secret-app', '1.0')).rejects.toMatchObject({
      code: 'notFound',
      property: 'registryId',
    })
  })
})
