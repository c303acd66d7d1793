import { randomUUID } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ownerLabels } from '../src/plan/labels.ts'
import { startWorld, type World, waitUntil, webImage } from './kit/index.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterEach(() => world.clear())
afterAll(() => world.dispose())

const store = async () => {
  const answer = await world.server.ask({ case: 'listImages', value: {} })
  return answer.case === 'images' ? answer.value.images : []
}
const stored = async (id: string) => (await store()).find((image) => image.id === id)
async function remove(...imageIds: string[]) {
  const answer = await world.server.ask({ case: 'removeImages', value: { imageIds } })
  if (answer.case !== 'removedImages') throw new Error(`answered ${answer.case}`)
  return answer.value
}
const release = (image: string, config: object = {}): Release =>
  world.release({ instances: [{ instanceId: 'web', image, config: { name: 'web', ...config } }] })
const succeed = async (order: Release) =>
  expect(await world.server.deployAndWait(order)).toMatchObject({ successful: true, reason: '' })

/** An image that only the registry has. */
async function publishAway(name: string) {
  const published = await world.publish(name, webImage(randomUUID()))
  const { Id, Size } = await world.docker.getImage(published.reference).inspect()
  await world.forget(name)
  return { ...published, id: Id, size: BigInt(Size) }
}
/** An image that a release has brought, and whose container is gone. */
async function deployed(name: string) {
  const image = await publishAway(name)
  await succeed(release(image.reference))
  await world.clear()
  return image
}

test('lists what the store has, with names, size, time and the containers that have it', async () => {
  const { reference, digest } = await world.publish('listed:1', webImage(randomUUID()))
  const { Id } = await world.docker.getImage(reference).inspect()
  await world.docker.createContainer({
    name: world.name('holder'),
    Image: reference,
    Labels: ownerLabels(world.owner),
  })
  const image = await stored(Id)
  expect(image?.references).toEqual([reference, `${reference.slice(0, -2)}@${digest}`])
  expect(image?.containers).toEqual([world.name('holder')])
  expect(image?.fetched).toBe(false)
  expect(Number(image?.sizeBytes)).toBeGreaterThan(500_000)
  expect(Math.abs(Date.now() / 1_000 - Number(image?.createdAt?.seconds))).toBeLessThan(600)
})

test('names no containers of others, and of their images only the names by which our own containers know them', async () => {
  const { reference } = await world.publish('shared:1', webImage(randomUUID()))
  const { Id } = await world.docker.getImage(reference).inspect()
  await world.docker.getImage(Id).tag({ repo: `${world.registry.host}/of-another-team`, tag: '1' })
  await world.docker.createContainer({ name: world.name('theirs'), Image: `${world.registry.host}/of-another-team:1` })
  expect(await stored(Id)).toMatchObject({ containers: [], usedByOthers: true, fetched: false, local: false })
  await world.docker.createContainer({ name: world.name('ours'), Image: reference, Labels: ownerLabels(world.owner) })
  const image = await stored(Id)
  expect(image).toMatchObject({ containers: [world.name('ours')], usedByOthers: true })
  expect(image?.references.join()).not.toContain('of-another-team')
  expect(image?.references).toContain(reference)
})

test('removes what a release fetched, also after the agent was replaced, and says what it weighed', async () => {
  const { id, size } = await deployed('gone:1')
  await world.restartAgent()
  expect((await stored(id))?.fetched).toBe(true)
  expect(await remove(id, id)).toMatchObject({ imageIds: [id], freedBytes: size, kept: [] })
  expect(await stored(id)).toBeUndefined()
  expect(await remove(id)).toMatchObject({ imageIds: [id], freedBytes: 0n })
})

test('leaves what was there before, or came by another hand, though releases have run it', async () => {
  const { reference } = await world.publish('before:1', webImage(randomUUID()))
  const { Id: before } = await world.docker.getImage(reference).inspect()
  await succeed(release(reference))
  await world.clear()
  // Fetched under one name while it lies there under another.
  const { digest, id: named } = await deployed('named:1')
  const ours = `${world.registry.host}/named@${digest}`
  expect((await stored(named))?.fetched).toBe(true)
  await world.docker.getImage(named).tag({ repo: `${world.registry.host}/mine`, tag: '1' })
  const again = await deployed('again:1')
  await world.docker.getImage(again.id).remove({ force: true })
  await store()
  const pulling = await world.docker.pull(again.reference)
  pulling.resume()
  await waitUntil('it is pulled by hand', () => stored(again.id))
  const { imageIds, kept } = await remove(before, named, again.id)
  expect(imageIds).toEqual([])
  const reason = 'No release brought it, or somebody else has named it'
  expect(kept.map((one) => [one.imageId, one.reason])).toEqual([before, named, again.id].map((id) => [id, reason]))
  expect((await stored(named))?.references).toContain(ours)
})

test('never takes an image that a container has, also one that is stopped, and no names or beginnings of ids', async () => {
  const { id, reference } = await deployed('held:1')
  await world.docker.createContainer({ name: world.name('stopped'), Image: id })
  const { imageIds, kept } = await remove(id, reference, id.slice(0, 20))
  expect(imageIds).toEqual([])
  expect(kept.map(({ imageId, reason }) => [imageId, reason])).toEqual([
    [id, `The container ${world.name('stopped')} has it`],
    [reference, 'It is not the id of an image'],
    [id.slice(0, 20), 'It is not the id of an image'],
  ])
  expect(await stored(id)).toBeDefined()
})

test('takes nothing that a deployment under way may be about to run', async () => {
  const { id, reference } = await deployed('wanted:1')
  const hold = {
    name: 'hold',
    image: (await world.publish('hold:1', {})).reference,
    command: [{ key: '/bin/sh' }, { key: '-c' }],
    args: [{ key: 'sleep 60' }],
  }
  const newer = await world.publish('wanted:2', webImage(randomUUID()))
  const order = release(newer.reference, { initContainers: [hold] })
  world.server.deploy(order)
  await waitUntil('it runs', async () => (await world.names()).some((name) => name.includes('hold')))
  const repository = reference.slice(0, -2)
  expect((await remove(id)).kept).toMatchObject([
    { imageId: id, reason: `A deployment under way uses ${repository}: remove it afterwards` },
  ])
  if (order.key) world.server.send({ case: 'cancelDeployment', value: { release: order.key } })
  expect(await world.server.outcomeOf(order)).toMatchObject({ cancelled: true })
  await waitUntil('the release lets go', async () => (await remove(id)).imageIds.length > 0)
  expect(await stored(id)).toBeUndefined()
})

test('waits with a deployment for a removal under way, and fetches again what went', async () => {
  const { id, reference, digest } = await deployed('raced:1')
  const asked = world.server.send({ case: 'removeImages', value: { imageIds: [id] } })
  await succeed(release(reference))
  const answer = await waitUntil('an answer', () => world.server.responses.get(asked)?.result)
  expect(answer.case).toBe('removedImages')
  expect((await world.docker.getImage(`${reference.slice(0, -2)}@${digest}`).inspect()).Id).toBe(id)
  expect((await stored(id))?.containers).toEqual([world.name('web')])
})
