import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeImage, startWorld, type World, webImage } from './kit/index.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.dispose())

async function stored(id: string) {
  const answer = await world.server.ask({ case: 'listImages', value: {} })
  return answer.case === 'images' ? answer.value.images.find((image) => image.id === id) : undefined
}
async function remove(...imageIds: string[]) {
  const answer = await world.server.ask({ case: 'removeImages', value: { imageIds } })
  if (answer.case !== 'removedImages') throw new Error(`answered ${answer.case}`)
  return answer.value
}

test('lists what the store has, with names, size, time and the containers that have it', async () => {
  const { reference, digest } = await world.publish('listed:1', webImage(randomUUID()))
  const { Id } = await world.docker.getImage(reference).inspect()
  await world.docker.createContainer({ name: world.name('holder'), Image: reference })
  const image = await stored(Id)
  expect(image?.references).toEqual([reference, `${reference.slice(0, -2)}@${digest}`])
  expect(image?.containers).toEqual([world.name('holder')])
  expect(Number(image?.sizeBytes)).toBeGreaterThan(500_000)
  expect(Math.abs(Date.now() / 1_000 - Number(image?.createdAt?.seconds))).toBeLessThan(600)
})

test('removes an image with all its names, and says what it weighed', async () => {
  const { reference } = await world.publish('gone:1', webImage(randomUUID()))
  const { Id, Size } = await world.docker.getImage(reference).inspect()
  await world.docker.getImage(Id).tag({ repo: `${world.registry.host}/other`, tag: '2' })
  expect(await remove(Id, Id)).toMatchObject({ imageIds: [Id], freedBytes: BigInt(Size), kept: [] })
  expect(await stored(Id)).toBeUndefined()
  expect(await remove(Id)).toMatchObject({ imageIds: [Id], freedBytes: 0n })
})

test('never takes an image that a container has, also one that is stopped, and no names or beginnings of ids', async () => {
  const reference = `${world.registry.host}/held:1`
  const id = await makeImage(world.docker, reference, webImage(randomUUID()))
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
