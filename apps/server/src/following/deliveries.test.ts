import { randomUUID } from 'node:crypto'
import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { answerWith, type CountedRegistry, finish, makeFollowing, startCountedRegistry } from '../../test/follow-kit.ts'
import { toDigest } from '../../test/kit/hook-payloads.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let real: Registry
let registry: CountedRegistry
let server: TestServer
let second: TestServer
let testEnvironment: DeployTestEnvironment

beforeAll(async () => {
  real = await startRegistry()
  registry = await startCountedRegistry(real)
  server = await startTestServer({ config: { followQuietMs: 0 } })
  second = await startTestServer({ config: { followQuietMs: 0 }, database: server.database, people: server.people })
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(async () => {
  await second.stop({ database: true })
  await server.stop()
  await registry.stop()
  await real.remove()
})

type Followed = Awaited<ReturnType<typeof make>>
type Delivery = { id?: string; tag?: string; digest?: string }

/** A deployment that follows, whose registry reports pushes with its token. */
async function make() {
  const followed = await makeFollowing(testEnvironment, registry)
  const params = { ...testEnvironment.params, registryId: followed.registryId }
  const { token } = await testEnvironment.client.call('registries.create-token', { params, body: {} })
  return {
    ...followed,
    async deliver({ id = randomUUID(), tag = '1.0', digest }: Delivery, to: TestServer = server) {
      const target = { repository: followed.name, tag, ...(digest && { digest }) }
      const { status } = await to.request(`/api/${params.teamSlug}/registries/${params.registryId}/hooks/v2`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ events: [{ id, action: 'push', target }] }),
      })
      expect(status).toBe(204)
    },
    /** The digests and tags of the deliveries with the numbers of the releases that followed, the newest first. */
    async followedBy() {
      const deliveries = await testEnvironment.client.call('registries.list-deliveries', { params })
      return deliveries.map(({ images, releases }) => {
        expect(releases?.every(({ deploymentId }) => deploymentId === followed.deploymentId)).toBe(true)
        return [images[0]?.tag, images[0]?.digest, releases?.map(({ number }) => number)]
      })
    },
  }
}
/** Resolves once the digest is stored and no check of the tag is requested. */
const isKnown = ({ registryId }: Followed, digest: string) =>
  until(async () => {
    const { rows } = await server.app.database.pool.query(
      `select from crux.followed_tag where registry_id = $1 and digest = $2 and claimed_at is null
         and requested_by = '{}' and next_check_at > now() + interval '10 seconds'`,
      [registryId, digest],
    )
    return rows.length === 1
  })

it('a delivery lists the release that its push led to, and a later delivery of the same digest lists none', async () => {
  const followed = await make()
  await followed.switchTo('deploy')
  await isKnown(followed, followed.digest)
  const digest = await registry.push(followed.name)
  const id = randomUUID()
  await followed.deliver({ tag: 'other', digest })
  await followed.deliver({ id, digest })
  await followed.deliver({ id, digest }, second)
  await finish(followed.agent, 2)
  await testEnvironment.waitForStatus(followed.deploymentId, 'successful')
  await isKnown(followed, digest)
  await followed.deliver({ digest })
  await isKnown(followed, digest)
  expect(await followed.followedBy()).toEqual([
    ['1.0', digest, []],
    ['1.0', digest, [2]],
    ['other', digest, []],
  ])
  expect(await followed.releases()).toHaveLength(2)
})

it('a delivery that reported another digest than the registry has lists no release', async () => {
  const followed = await make()
  await followed.switchTo('deploy')
  await isKnown(followed, followed.digest)
  const digest = await registry.push(followed.name)
  const forged = toDigest('forged')
  await followed.deliver({ digest: forged })
  const release = await finish(followed.agent, 2)
  expect(release.instances[0]?.imageDigest).toBe(digest)
  expect(await followed.followedBy()).toEqual([['1.0', forged, []]])
})

it('a delivery without a digest lists the release of the digest that the check after it found', async () => {
  const followed = await make()
  await followed.switchTo('deploy')
  await isKnown(followed, followed.digest)
  await registry.push(followed.name)
  await followed.deliver({})
  await finish(followed.agent, 2)
  expect(await followed.followedBy()).toEqual([['1.0', undefined, [2]]])
})

it('a delivery lists the release that started after a failed check was repeated', async () => {
  const followed = await make()
  await followed.switchTo('deploy')
  await isKnown(followed, followed.digest)
  registry.answers(answerWith(500))
  const digest = await registry.push(followed.name)
  await followed.deliver({ digest })
  await until(async () => (await followed.instance()).following?.error)
  registry.answers(() => false)
  await server.app.database.pool.query('update crux.followed_tag set next_check_at = now() where registry_id = $1', [
    followed.registryId,
  ])
  await finish(followed.agent, 2)
  expect(await followed.followedBy()).toEqual([['1.0', digest, [2]]])
})

it('a delivery lists neither the release of a regular check nor one that starts because a user switched to deploy', async () => {
  const followed = await make()
  await followed.switchTo('notify')
  await isKnown(followed, followed.digest)
  const digest = await registry.push(followed.name)
  await followed.deliver({ digest })
  await isKnown(followed, digest)
  await followed.switchTo('deploy')
  await finish(followed.agent, 2)
  await testEnvironment.waitForStatus(followed.deploymentId, 'successful')
  const next = await registry.push(followed.name)
  await server.app.database.pool.query('update crux.followed_tag set next_check_at = now() where registry_id = $1', [
    followed.registryId,
  ])
  await finish(followed.agent, 3)
  await followed.deliver({ digest: next })
  await isKnown(followed, next)
  expect(await followed.followedBy()).toEqual([
    ['1.0', next, []],
    ['1.0', digest, []],
  ])
})
