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
import { answerOf, answers } from '../kit/service.ts'
import { expect, type Stage, test } from '../kit/stage.ts'

/** Deploys a service that answers "one" on a host port. */
async function standing(stage: Stage, image: Partial<ServiceImage> = {}) {
  const name = `app/${unique('web')}`
  const port = await freePort()
  const service = await createService(stage.testEnvironment, [
    {
      name,
      tag: '1',
      image: web('one'),
      config: { name: 'web', ports: [{ internal: 8080, external: port }], ...image.config },
    },
  ])
  const prefix = unique('k')
  const deployment = await createDeployment(stage.testEnvironment, service, prefix)
  const first = await deploy(stage.testEnvironment, deployment.id)
  expect(first.outcome, 'the first release').not.toContain('fail')
  expect(first.status).toBe('successful')
  await answers(port, 'one')
  return { name, port, prefix, service, deployment }
}

async function expectKept(stage: Stage, place: Awaited<ReturnType<typeof standing>>, words: RegExp) {
  const before = await raw.list(`dev.crux.prefix=${place.prefix}`)
  const result = await deploy(stage.testEnvironment, place.deployment.id)
  expect(result.status).toBe('failed')
  expect(result.outcome).toMatch(words)
  expect(await answerOf(place.port), 'the old one answers').toBe('one')
  const after = await raw.list(`dev.crux.prefix=${place.prefix}`)
  expect(after.map((one) => one.Id)).toEqual(before.map((one) => one.Id))
  expect(after.map((one) => one.Names)).toEqual(before.map((one) => one.Names))
  return result
}

test.describe('a failed deployment keeps the old container answering', () => {
  test('after an unknown tag', async ({ stage }) => {
    const place = await standing(stage)
    await setTag(stage.testEnvironment, place.service, 0, 'missing')
    await expectKept(stage, place, /missing/)
  })

  test('while the registry is down', async ({ stage }) => {
    const place = await standing(stage)
    await stage.registry.push(place.name, '2', web('two'))
    await setTag(stage.testEnvironment, place.service, 0, '2')
    await stage.registry.stop()
    try {
      await expectKept(stage, place, /regist|reach|refused|connect/i)
    } finally {
      await stage.registry.start()
    }
    const again = await deploy(stage.testEnvironment, place.deployment.id)
    expect(again.status, again.outcome).toBe('successful')
    await answers(place.port, 'two')
  })

  test('when the new container exits at once, with its last lines in the events', async ({ stage }) => {
    const place = await standing(stage)
    await stage.registry.push(place.name, 'broken', exits(3, 50, 'cannot read settings'))
    await setTag(stage.testEnvironment, place.service, 0, 'broken')
    const result = await expectKept(stage, place, /exit.*3|3.*exit/i)
    expect(result.events.flatMap((event) => event.log?.log ?? []).join('\n')).toContain('cannot read settings')
  })

  test('when another process has the port, which the error names', async ({ stage }) => {
    const place = await standing(stage)
    const taken = await freePort()
    await stage.registry.push('app/other', '1', web('other'))
    const other = await createService(stage.testEnvironment, [
      { name: 'app/other', tag: '1', config: { name: 'other', ports: [{ internal: 8080, external: taken }] } },
    ])
    const otherPrefix = unique('o')
    expect(
      (await deploy(stage.testEnvironment, (await createDeployment(stage.testEnvironment, other, otherPrefix)).id))
        .status,
    ).toBe('successful')
    await stage.testEnvironment.person.client.call('images.update', {
      params: {
        teamSlug: stage.testEnvironment.teamSlug,
        projectId: place.service.projectId,
        versionId: place.service.versionId,
        imageId: place.service.imageIds[0] ?? '',
      },
      body: { config: { ports: [{ internal: 8080, external: taken }] } },
    })
    await expectKept(stage, place, new RegExp(`${taken}.*${otherPrefix}-other|${otherPrefix}-other.*${taken}`))
    expect(await answerOf(taken)).toBe('other')
  })

  test('when the new container never reaches its expected state', async ({ stage }) => {
    const place = await standing(stage)
    await stage.testEnvironment.person.client.call('images.update', {
      params: {
        teamSlug: stage.testEnvironment.teamSlug,
        projectId: place.service.projectId,
        versionId: place.service.versionId,
        imageId: place.service.imageIds[0] ?? '',
      },
      body: { config: { expectedState: { state: 'exited', timeout: 2, exitCode: 0 } } },
    })
    await expectKept(stage, place, /did not end within 2 s/)
  })
})

test('a container that exits within the observation window fails the release, unless it is expected to exit', async ({
  stage,
}) => {
  const name = `job/${unique('job')}`
  await stage.registry.push(name, '1', exits(0, 200))
  const service = await createService(stage.testEnvironment, [{ name, tag: '1', config: { name: 'job' } }])
  const deployment = await createDeployment(stage.testEnvironment, service, unique('j'))
  expect((await deploy(stage.testEnvironment, deployment.id)).status).toBe('failed')
  await stage.testEnvironment.person.client.call('images.update', {
    params: {
      teamSlug: stage.testEnvironment.teamSlug,
      projectId: service.projectId,
      versionId: service.versionId,
      imageId: service.imageIds[0] ?? '',
    },
    body: { config: { expectedState: { state: 'exited', timeout: 20, exitCode: 0 }, restartPolicy: 'no' } },
  })
  const result = await deploy(stage.testEnvironment, deployment.id)
  expect(result.status, result.outcome).toBe('successful')
})

test('a new tag is deployed and answers', async ({ stage }) => {
  const place = await standing(stage)
  await stage.registry.push(place.name, '2', web('two'))
  await setTag(stage.testEnvironment, place.service, 0, '2')
  const result = await deploy(stage.testEnvironment, place.deployment.id)
  expect(result.status, result.outcome).toBe('successful')
  await answers(place.port, 'two')
  expect(await raw.list(`dev.crux.prefix=${place.prefix}`)).toHaveLength(1)
})
