import { randomUUID } from 'node:crypto'
import { loadImage, type Registry, registryAccount, startRegistry } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { removeImages, startTestEnvironment, type TestEnvironment, webImage } from './kit/index.ts'

/** Images that another user put into the engine's store, as with a second team on the same engine. */
let testEnvironment: TestEnvironment
let theirs: Registry
let secret: { reference: string; name: string; digest: string; id: string }
const auth = () => ({ serverAddress: theirs.host, username: registryAccount.user, password: registryAccount.token })

beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  theirs = await startRegistry({ auth: true })
  const digest = await theirs.push('secret/app', '1', webImage('private words'))
  const name = `${theirs.host}/secret/app`
  const { serverAddress, username, password } = auth()
  const pulling = await testEnvironment.docker.createImage(
    { username, password, serveraddress: serverAddress } as never,
    {
      fromImage: `${name}:1`,
    },
  )
  await new Promise((resolve, reject) =>
    testEnvironment.docker.modem.followProgress(pulling, (error) => (error ? reject(error) : resolve(undefined))),
  )
  const { Id } = await testEnvironment.docker.getImage(`${name}:1`).inspect()
  secret = { reference: `${name}:1`, name, digest, id: Id }
})
afterEach(() => testEnvironment.clear())
afterAll(async () => {
  await removeImages(testEnvironment.docker, theirs.host)
  await theirs.remove()
  await testEnvironment.dispose()
})

const web = { name: 'web' }
const deploy = (instance: Parameters<TestEnvironment['release']>[0]['instances'][number]) =>
  testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [instance] }))
/** An image that this environment may run, with an init container from another. */
async function withInit(image: string, more: object = {}) {
  const own = await testEnvironment.publish(`main-${randomUUID().slice(0, 8)}:1`, webImage('main'))
  return deploy({
    image: own.reference,
    config: { ...web, initContainers: [{ name: 'steal', image, useParentConfig: false }] },
    ...more,
  })
}

test('a private image of the store does not run by its digest without the credentials that its registry asks for', async () => {
  const outcome = await deploy({ image: secret.reference, digest: secret.digest, config: web })
  expect(outcome.successful).toBe(false)
  expect(outcome.reason).toContain('The registry refuses access')
  expect(await testEnvironment.names()).toEqual([])
})

test('a private image of the store runs neither by its tag nor by its id as an image of the node', async () => {
  for (const digest of ['', secret.id]) {
    const outcome = await deploy({ image: secret.reference, digest, localOnly: true, config: web })
    expect(outcome).toMatchObject({ successful: false })
    expect(outcome.reason).toContain('came from a registry and was not fetched by this node')
  }
  expect(await testEnvironment.names()).toEqual([])
})

test('a private image of the store does not run as init or config container', async () => {
  for (const image of [secret.reference, `${secret.name}@${secret.digest}`, `${secret.name}@${secret.id}`]) {
    const outcome = await withInit(image)
    expect(outcome.successful, image).toBe(false)
    expect(outcome.reason).toMatch(/The registry refuses access|The registry has no image/)
    const local = await withInit(image, { localOnly: true })
    expect(local.successful, image).toBe(false)
  }
  const own = await testEnvironment.publish('config-main:1', webImage('main'))
  const outcome = await deploy({
    image: own.reference,
    config: {
      ...web,
      volumes: [{ name: 'data', path: '/data', type: 'rwo' }],
      configContainer: { image: secret.reference, volume: 'data', path: '/www', keepFiles: false },
    },
  })
  expect(outcome).toMatchObject({ successful: false })
  expect(outcome.reason).toContain('The registry refuses access')
})

test('an image that another user pulled runs by its digest when the registry grants it', async () => {
  const instance = { image: secret.reference, digest: secret.digest, config: web }
  expect(await deploy({ ...instance, auth: auth() })).toMatchObject({ successful: true })
  expect((await testEnvironment.inspect('web')).Image).toBe(secret.id)
  // A past run is no grant: the credentials may have been revoked since.
  expect(await deploy(instance)).toMatchObject({ successful: false })
})

test('an image that this agent fetched runs by its digest while its registry is unavailable', async () => {
  const mine = await startRegistry()
  try {
    const digest = await mine.push('mine', '1', webImage(randomUUID()))
    const image = `${mine.host}/mine:1`
    expect(await deploy({ image, config: web })).toMatchObject({ successful: true })
    await testEnvironment.clear()
    await mine.stop()
    expect(await deploy({ image, digest, config: web })).toMatchObject({ successful: true, reason: '' })
    const { Id } = await testEnvironment.docker.getImage(image).inspect()
    expect((await testEnvironment.inspect('web')).Image).toBe(Id)
    await testEnvironment.clear()
    await testEnvironment.restartAgent()
    expect(await deploy({ image, localOnly: true, config: web })).toMatchObject({ successful: true, reason: '' })
  } finally {
    await removeImages(testEnvironment.docker, mine.host)
    await mine.remove()
  }
})

test('an image that was loaded on the node runs by its tag and by its id without any registry', async () => {
  const name = `crux-loaded-${randomUUID().slice(0, 8)}`
  await loadImage(`${name}:1`, webImage('loaded'))
  try {
    const { Id } = await testEnvironment.docker.getImage(`${name}:1`).inspect()
    for (const digest of ['', Id]) {
      expect(await deploy({ image: `${name}:1`, digest, localOnly: true, config: web })).toMatchObject({
        successful: true,
        reason: '',
      })
      expect((await testEnvironment.inspect('web')).Image).toBe(Id)
    }
  } finally {
    await testEnvironment.clear()
    await removeImages(testEnvironment.docker, name)
  }
})
