import { randomUUID } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ownerLabels } from '../src/engines/labels.ts'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

let testEnvironment: TestEnvironment
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
})
afterEach(() => testEnvironment.clear())
afterAll(() => testEnvironment.dispose())

const store = async () => {
  const answer = await testEnvironment.server.ask({ case: 'listImages', value: {} })
  return answer.case === 'images' ? answer.value.images : []
}
const stored = async (id: string) => (await store()).find((image) => image.id === id)
async function remove(...imageIds: string[]) {
  const answer = await testEnvironment.server.ask({ case: 'removeImages', value: { imageIds } })
  if (answer.case !== 'removedImages') throw new Error(`answered ${answer.case}`)
  return answer.value
}
const release = (image: string, config: object = {}): Release =>
  testEnvironment.release({ instances: [{ instanceId: 'web', image, config: { name: 'web', ...config } }] })
const succeed = async (order: Release) =>
  expect(await testEnvironment.server.deployAndWait(order)).toMatchObject({ successful: true, reason: '' })

/** An image that only the registry has. */
async function publishAway(name: string) {
  const published = await testEnvironment.publish(name, webImage(randomUUID()))
  const { Id, Size } = await testEnvironment.docker.getImage(published.reference).inspect()
  await testEnvironment.forget(name)
  return { ...published, id: Id, size: BigInt(Size) }
}
/** An image that a release has fetched, and whose container was removed. */
async function deployed(name: string) {
  const image = await publishAway(name)
  await succeed(release(image.reference))
  await testEnvironment.clear()
  return image
}

test('an image list has names, size, time and the containers that use each image', async () => {
  const { reference, digest } = await testEnvironment.publish('listed:1', webImage(randomUUID()))
  const { Id } = await testEnvironment.docker.getImage(reference).inspect()
  await testEnvironment.docker.createContainer({
    name: testEnvironment.name('holder'),
    Image: reference,
    Labels: ownerLabels(testEnvironment.owner),
  })
  const image = await stored(Id)
  expect(image?.references).toEqual([reference, `${reference.slice(0, -2)}@${digest}`])
  expect(image?.containers).toEqual([testEnvironment.name('holder')])
  expect(image?.fetched).toBe(false)
  expect(Number(image?.sizeBytes)).toBeGreaterThan(500_000)
  expect(Math.abs(Date.now() / 1_000 - Number(image?.createdAt?.seconds))).toBeLessThan(600)
})

test('an image list names no containers of other owners and only those image names that our own containers use', async () => {
  const { reference } = await testEnvironment.publish('shared:1', webImage(randomUUID()))
  const { Id } = await testEnvironment.docker.getImage(reference).inspect()
  await testEnvironment.docker.getImage(Id).tag({ repo: `${testEnvironment.registry.host}/of-another-team`, tag: '1' })
  await testEnvironment.docker.createContainer({
    name: testEnvironment.name('theirs'),
    Image: `${testEnvironment.registry.host}/of-another-team:1`,
  })
  expect(await stored(Id)).toMatchObject({ containers: [], usedByOthers: true, fetched: false, local: false })
  await testEnvironment.docker.createContainer({
    name: testEnvironment.name('ours'),
    Image: reference,
    Labels: ownerLabels(testEnvironment.owner),
  })
  const image = await stored(Id)
  expect(image).toMatchObject({ containers: [testEnvironment.name('ours')], usedByOthers: true })
  expect(image?.references.join()).not.toContain('of-another-team')
  expect(image?.references).toContain(reference)
})

test('a removal deletes what a release fetched also after the agent was replaced and reports its size', async () => {
  const { id, size } = await deployed('gone:1')
  await testEnvironment.restartAgent()
  expect((await stored(id))?.fetched).toBe(true)
  expect(await remove(id, id)).toMatchObject({ imageIds: [id], freedBytes: size, kept: [] })
  expect(await stored(id)).toBeUndefined()
  expect(await remove(id)).toMatchObject({ imageIds: [id], freedBytes: 0n })
})

test('a removal keeps images that existed before or that others pulled although releases have run them', async () => {
  const { reference } = await testEnvironment.publish('before:1', webImage(randomUUID()))
  const { Id: before } = await testEnvironment.docker.getImage(reference).inspect()
  await succeed(release(reference))
  await testEnvironment.clear()
  // Fetched under one name while the store has it under another.
  const { digest, id: named } = await deployed('named:1')
  const ours = `${testEnvironment.registry.host}/named@${digest}`
  expect((await stored(named))?.fetched).toBe(true)
  await testEnvironment.docker.getImage(named).tag({ repo: `${testEnvironment.registry.host}/mine`, tag: '1' })
  const again = await deployed('again:1')
  await testEnvironment.docker.getImage(again.id).remove({ force: true })
  await store()
  const pulling = await testEnvironment.docker.pull(again.reference)
  pulling.resume()
  await waitUntil('it is pulled by hand', () => stored(again.id))
  const { imageIds, kept } = await remove(before, named, again.id)
  expect(imageIds).toEqual([])
  const reason = 'No release pulled it, or it was tagged outside of Crux'
  expect(kept.map((one) => [one.imageId, one.reason])).toEqual([before, named, again.id].map((id) => [id, reason]))
  expect((await stored(named))?.references).toContain(ours)
})

test('a removal never deletes an image that a container uses and accepts no names or id prefixes', async () => {
  const { id, reference } = await deployed('held:1')
  await testEnvironment.docker.createContainer({ name: testEnvironment.name('stopped'), Image: id })
  const { imageIds, kept } = await remove(id, reference, id.slice(0, 20))
  expect(imageIds).toEqual([])
  expect(kept.map(({ imageId, reason }) => [imageId, reason])).toEqual([
    [id, `The container ${testEnvironment.name('stopped')} has it`],
    [reference, 'It is not the id of an image'],
    [id.slice(0, 20), 'It is not the id of an image'],
  ])
  expect(await stored(id)).toBeDefined()
})

test('a removal keeps everything that a deployment in progress may run', async () => {
  const { id, reference } = await deployed('wanted:1')
  const hold = {
    name: 'hold',
    image: (await testEnvironment.publish('hold:1', {})).reference,
    command: [{ key: '/bin/sh' }, { key: '-c' }],
    args: [{ key: 'sleep 60' }],
  }
  const newer = await testEnvironment.publish('wanted:2', webImage(randomUUID()))
  const order = release(newer.reference, { initContainers: [hold] })
  testEnvironment.server.deploy(order)
  await waitUntil('it runs', async () => (await testEnvironment.names()).some((name) => name.includes('hold')))
  const repository = reference.slice(0, -2)
  expect((await remove(id)).kept).toMatchObject([
    { imageId: id, reason: `A deployment in progress uses ${repository}: remove it afterwards` },
  ])
  if (order.key) testEnvironment.server.send({ case: 'cancelDeployment', value: { release: order.key } })
  expect(await testEnvironment.server.getOutcome(order)).toMatchObject({ cancelled: true })
  await waitUntil('the release lets go', async () => (await remove(id)).imageIds.length > 0)
  expect(await stored(id)).toBeUndefined()
})

test('a deployment waits for a removal in progress and fetches removed images again', async () => {
  const { id, reference, digest } = await deployed('raced:1')
  const asked = testEnvironment.server.send({ case: 'removeImages', value: { imageIds: [id] } })
  await succeed(release(reference))
  const answer = await waitUntil('an answer', () => testEnvironment.server.responses.get(asked)?.result)
  expect(answer.case).toBe('removedImages')
  expect((await testEnvironment.docker.getImage(`${reference.slice(0, -2)}@${digest}`).inspect()).Id).toBe(id)
  expect((await stored(id))?.containers).toEqual([testEnvironment.name('web')])
})
