import { randomUUID } from 'node:crypto'
import { idle, loadImage } from '@crux/test-kit'
import { afterEach, expect, test } from 'vitest'
import { removeAgentImage } from '../src/engines/docker/client/agent-images.ts'
import { openEngine, removeImages } from './kit/index.ts'

/** Which image of a replaced agent is removed. Small images stand for those of agents. */
const docker = openEngine()
const suffix = randomUUID().slice(0, 8)
const reference = `crux/agent-images-${suffix}:1`
const other = `crux/agent-images-${suffix}-user`

afterEach(async () => {
  await docker
    .getContainer(`agent-images-${suffix}`)
    .remove({ force: true })
    .catch(() => undefined)
  await removeImages(docker, `agent-images-${suffix}`)
})

/** @returns the id of an image that nothing else has */
async function makeImage(): Promise<string> {
  await loadImage(reference, { ...idle(), labels: { unique: randomUUID() } })
  return (await docker.getImage(reference).inspect()).Id
}
const isThere = (id: string) =>
  docker
    .getImage(id)
    .inspect()
    .then(
      () => true,
      () => false,
    )

test('an image is removed with its one name, also where the name was written with the address of Docker Hub', async () => {
  const id = await makeImage()
  expect(await removeAgentImage(docker, id, `docker.io/${reference}`)).toBeUndefined()
  expect(await isThere(id)).toBe(false)
})

test('an image whose name has gone to a newer image is removed', async () => {
  const id = await makeImage()
  expect(await makeImage()).not.toBe(id)
  expect(await removeAgentImage(docker, id, reference)).toBeUndefined()
  expect(await isThere(id)).toBe(false)
  expect(await isThere(reference)).toBe(true)
})

test('an image stays with all its names if a user gave it a further name', async () => {
  const id = await makeImage()
  await docker.getImage(id).tag({ repo: other, tag: 'mine' })
  expect(await removeAgentImage(docker, id, reference)).toBe(`It is named ${other}:mine too`)
  expect(await isThere(reference)).toBe(true)
  expect(await isThere(`${other}:mine`)).toBe(true)
})

test('an image stays if its only name is not the one that the agent was started with', async () => {
  const id = await makeImage()
  expect(await removeAgentImage(docker, id, `${other}:1`)).toBe(`It is named ${reference} too`)
  expect(await isThere(reference)).toBe(true)
})

test('an image stays if a container has it, also one that is stopped', async () => {
  const id = await makeImage()
  await docker.createContainer({ name: `agent-images-${suffix}`, Image: id })
  expect(await removeAgentImage(docker, id, reference)).toContain('being used')
  expect(await isThere(reference)).toBe(true)
})

test('an image that is gone already is no failure', async () => {
  expect(await removeAgentImage(docker, `sha256:${'0'.repeat(64)}`, reference)).toBeUndefined()
})
