import {
  createDeployment,
  createService,
  deploy,
  exits,
  freePort,
  raw,
  type ServiceImage,
  setTag,
  unique,
  web,
} from '@crux/test-kit'
import { answers, toAnswer } from '../kit/service.ts'
import { expect, type TestSystem, test } from '../kit/test-system.ts'

/** Deploys a service that answers "one" on a host port. */
async function deployRunning(testSystem: TestSystem, image: Partial<ServiceImage> = {}) {
  const name = `app/${unique('web')}`
  const port = await freePort()
  const service = await createService(testSystem.testEnvironment, [
    {
      name,
      tag: '1',
      image: web('one'),
      config: { name: 'web', ports: [{ internal: 8080, external: port }], ...image.config },
    },
  ])
  const prefix = unique('k')
  const deployment = await createDeployment(testSystem.testEnvironment, service, prefix)
  const first = await deploy(testSystem.testEnvironment, deployment.id)
  expect(first.outcome, 'the first release').not.toContain('fail')
  expect(first.status).toBe('successful')
  await answers(port, 'one')
  return { name, port, prefix, service, deployment }
}

async function expectKept(testSystem: TestSystem, deployed: Awaited<ReturnType<typeof deployRunning>>, words: RegExp) {
  const before = await raw.list(`dev.crux.prefix=${deployed.prefix}`)
  const result = await deploy(testSystem.testEnvironment, deployed.deployment.id)
  expect(result.status).toBe('failed')
  expect(result.outcome).toMatch(words)
  expect(await toAnswer(deployed.port), 'the old one answers').toBe('one')
  const after = await raw.list(`dev.crux.prefix=${deployed.prefix}`)
  expect(after.map((one) => one.Id)).toEqual(before.map((one) => one.Id))
  expect(after.map((one) => one.Names)).toEqual(before.map((one) => one.Names))
  return result
}

test.describe('a failed deployment', () => {
  test('an unknown tag keeps the old container answering', async ({ testSystem }) => {
    const deployed = await deployRunning(testSystem)
    await setTag(testSystem.testEnvironment, deployed.service, 0, 'missing')
    await expectKept(testSystem, deployed, /missing/)
  })

  test('an unreachable registry keeps the old container answering', async ({ testSystem }) => {
    const deployed = await deployRunning(testSystem)
    await testSystem.registry.push(deployed.name, '2', web('two'))
    await setTag(testSystem.testEnvironment, deployed.service, 0, '2')
    await testSystem.registry.stop()
    try {
      await expectKept(testSystem, deployed, /regist|reach|refused|connect/i)
    } finally {
      await testSystem.registry.start()
    }
    const again = await deploy(testSystem.testEnvironment, deployed.deployment.id)
    expect(again.status, again.outcome).toBe('successful')
    await answers(deployed.port, 'two')
  })

  test('a new container that exits at once keeps the old one answering, and its last lines are in the events', async ({
    testSystem,
  }) => {
    const deployed = await deployRunning(testSystem)
    await testSystem.registry.push(deployed.name, 'broken', exits(3, 50, 'cannot read settings'))
    await setTag(testSystem.testEnvironment, deployed.service, 0, 'broken')
    const result = await expectKept(testSystem, deployed, /exit.*3|3.*exit/i)
    expect(result.events.flatMap((event) => event.log?.log ?? []).join('\n')).toContain('cannot read settings')
  })

  test('a port that another container has keeps the old container answering, and the error names it', async ({
    testSystem,
  }) => {
    const deployed = await deployRunning(testSystem)
    const taken = await freePort()
    await testSystem.registry.push('app/other', '1', web('other'))
    const other = await createService(testSystem.testEnvironment, [
      { name: 'app/other', tag: '1', config: { name: 'other', ports: [{ internal: 8080, external: taken }] } },
    ])
    const otherPrefix = unique('o')
    expect(
      (
        await deploy(
          testSystem.testEnvironment,
          (
            await createDeployment(testSystem.testEnvironment, other, otherPrefix)
          ).id,
        )
      ).status,
    ).toBe('successful')
    await testSystem.testEnvironment.user.client.call('images.update', {
      params: {
        teamSlug: testSystem.testEnvironment.teamSlug,
        projectId: deployed.service.projectId,
        versionId: deployed.service.versionId,
        imageId: deployed.service.imageIds[0] ?? '',
      },
      body: { config: { ports: [{ internal: 8080, external: taken }] } },
    })
    await expectKept(testSystem, deployed, new RegExp(`${taken}.*${otherPrefix}-other|${otherPrefix}-other.*${taken}`))
    expect(await toAnswer(taken)).toBe('other')
  })

  test('a new container that never reaches its expected state keeps the old one answering', async ({ testSystem }) => {
    const deployed = await deployRunning(testSystem)
    await testSystem.testEnvironment.user.client.call('images.update', {
      params: {
        teamSlug: testSystem.testEnvironment.teamSlug,
        projectId: deployed.service.projectId,
        versionId: deployed.service.versionId,
        imageId: deployed.service.imageIds[0] ?? '',
      },
      body: { config: { expectedState: { state: 'exited', timeout: 2, exitCode: 0 } } },
    })
    await expectKept(testSystem, deployed, /did not end within 2 s/)
  })
})

test('a container that exits within the observation window fails the release, unless it is expected to exit', async ({
  testSystem,
}) => {
  const name = `job/${unique('job')}`
  await testSystem.registry.push(name, '1', exits(0, 50))
  const service = await createService(testSystem.testEnvironment, [{ name, tag: '1', config: { name: 'job' } }])
  const deployment = await createDeployment(testSystem.testEnvironment, service, unique('j'))
  expect((await deploy(testSystem.testEnvironment, deployment.id)).status).toBe('failed')
  await testSystem.testEnvironment.user.client.call('images.update', {
    params: {
      teamSlug: testSystem.testEnvironment.teamSlug,
      projectId: service.projectId,
      versionId: service.versionId,
      imageId: service.imageIds[0] ?? '',
    },
    body: { config: { expectedState: { state: 'exited', timeout: 20, exitCode: 0 }, restartPolicy: 'no' } },
  })
  const result = await deploy(testSystem.testEnvironment, deployment.id)
  expect(result.status, result.outcome).toBe('successful')
})

test('a new tag is deployed and answers', async ({ testSystem }) => {
  const deployed = await deployRunning(testSystem)
  await testSystem.registry.push(deployed.name, '2', web('two'))
  await setTag(testSystem.testEnvironment, deployed.service, 0, '2')
  const result = await deploy(testSystem.testEnvironment, deployed.deployment.id)
  expect(result.status, result.outcome).toBe('successful')
  await answers(deployed.port, 'two')
  expect(await raw.list(`dev.crux.prefix=${deployed.prefix}`)).toHaveLength(1)
})
