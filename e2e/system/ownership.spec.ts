import {
  createDeployment,
  createService,
  createTeam,
  createTestEnvironment,
  deploy,
  freePort,
  idle,
  loadImage,
  raw,
  removeContainers,
  signUp,
  unique,
  web,
} from '@crux/test-kit'
import { answers, toAnswer } from '../kit/service.ts'
import { expect, test } from '../kit/test-system.ts'

test('a container without an owner that has the wanted name is kept and named in the error', async ({ testSystem }) => {
  const prefix = unique('x')
  await loadImage('e2e-foreign:1', idle())
  const foreign = await raw.create(`${prefix}-web`, { Image: 'e2e-foreign:1' })
  await raw.start(foreign)
  const service = await createService(testSystem.testEnvironment, [
    { name: `app/${prefix}`, tag: '1', image: web('one'), config: { name: 'web' } },
  ])
  const result = await deploy(
    testSystem.testEnvironment,
    (await createDeployment(testSystem.testEnvironment, service, prefix)).id,
  )
  expect(result.status).toBe('failed')
  expect(result.outcome).toContain(`${prefix}-web`)
  expect((await raw.inspect(foreign)).State.Running).toBe(true)
  await raw.remove(foreign)
})

test('a container of another project and of another team is kept', async ({ testSystem }) => {
  const prefix = unique('x')
  const port = await freePort()
  const mine = await createService(testSystem.testEnvironment, [
    {
      name: `app/${prefix}`,
      tag: '1',
      image: web('mine'),
      config: { name: 'web', ports: [{ internal: 8080, external: port }] },
    },
  ])
  expect(
    (await deploy(testSystem.testEnvironment, (await createDeployment(testSystem.testEnvironment, mine, prefix)).id))
      .status,
  ).toBe('successful')
  const otherProject = await createService(testSystem.testEnvironment, [
    { name: `app/${prefix}`, tag: '1', config: { name: 'web' } },
  ])
  const second = await deploy(
    testSystem.testEnvironment,
    (await createDeployment(testSystem.testEnvironment, otherProject, prefix)).id,
  )
  expect(second.status).toBe('failed')
  expect(second.outcome).toContain(`${prefix}-web`)
  const otherTeam = await createTestEnvironment(await signUp(testSystem.system.url), testSystem.registry)
  const theirs = await createService(otherTeam, [{ name: `app/${prefix}`, tag: '1', config: { name: 'web' } }])
  const third = await deploy(otherTeam, (await createDeployment(otherTeam, theirs, prefix)).id)
  expect(third.status).toBe('failed')
  expect(third.outcome).toContain(`${prefix}-web`)
  expect(await toAnswer(port)).toBe('mine')
  await removeContainers(`dev.crux.team=${otherTeam.teamId}`)
})

test('version 1.1.0 replaces 1.0.0 on the same node and prefix, and 1.0.0 is restored on failure', async ({
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const name = `app/${unique('take')}`
  const port = await freePort()
  const prefix = unique('v')
  const first = await createService(
    testEnvironment,
    [{ name, tag: '1', image: web('1.0.0'), config: { name: 'web', ports: [{ internal: 8080, external: port }] } }],
    { versioned: '1.0.0' },
  )
  const one = await createDeployment(testEnvironment, first, prefix)
  expect((await deploy(testEnvironment, one.id)).status).toBe('successful')
  const params = { teamSlug: testEnvironment.teamSlug, projectId: first.projectId }
  const next = await client.call('versions.increase', {
    params: { ...params, versionId: first.versionId },
    body: { name: '1.1.0' },
  })
  const version = await client.call('versions.get', { params: { ...params, versionId: next.id } })
  const image = version.images[0]
  const second = version.deployments.find((each) => each.prefix === prefix)
  if (!image || !second) throw new Error('the image and the deployment were copied')
  const setImageTag = (tag: string) =>
    client.call('images.update', { params: { ...params, versionId: next.id, imageId: image.id }, body: { tag } })
  await setImageTag('missing')
  expect((await deploy(testEnvironment, second.id)).status).toBe('failed')
  expect(await toAnswer(port), 'given back').toBe('1.0.0')
  expect(
    (await client.call('deployments.get', { params: { teamSlug: testEnvironment.teamSlug, deploymentId: one.id } }))
      .status,
  ).toBe('successful')
  await testSystem.registry.push(name, '2', web('1.1.0'))
  await setImageTag('2')
  const result = await deploy(testEnvironment, second.id)
  expect(result.status, result.outcome).toBe('successful')
  await answers(port, '1.1.0')
  expect(
    (await client.call('deployments.get', { params: { teamSlug: testEnvironment.teamSlug, deploymentId: one.id } }))
      .status,
  ).toBe('obsolete')
  expect(await raw.list(`dev.crux.prefix=${prefix}`)).toHaveLength(1)
})

test('a db and a web image find each other by name on the first deployment', async ({ testSystem }) => {
  const name = unique('pair')
  const port = await freePort()
  const service = await createService(testSystem.testEnvironment, [
    { name: `db/${name}`, tag: '1', image: web('data of the db', 5432), config: { name: 'db' } },
    {
      name: `web/${name}`,
      tag: '1',
      image: {
        cmd: [
          '/bin/sh',
          '-c',
          "trap 'exit 0' TERM; for n in 1 2 3 4 5 6 7 8 9; do wget -q -O /www/index.html http://db:5432/ && break; sleep 0.1; done; httpd -f -p 8080 -h /www & wait",
        ],
        exposed: [8080],
      },
      config: { name: 'web', ports: [{ internal: 8080, external: port }] },
    },
  ])
  const result = await deploy(
    testSystem.testEnvironment,
    (await createDeployment(testSystem.testEnvironment, service, unique('d'))).id,
  )
  expect(result.status, result.outcome).toBe('successful')
  await answers(port, 'data of the db')
})

test('a second team cannot access any id of the first one', async ({ testSystem }) => {
  const { testEnvironment, system } = testSystem
  const stranger = await signUp(system.url)
  const { teamSlug } = await createTeam(stranger)
  const service = await createService(testEnvironment, [
    { name: `app/${unique('own')}`, tag: '1', image: web('x'), config: { name: 'web' } },
  ])
  const deployment = await createDeployment(testEnvironment, service, unique('q'))
  const ids = {
    projectId: service.projectId,
    versionId: service.versionId,
    imageId: service.imageIds[0] ?? '',
    nodeId: testEnvironment.nodeId,
    registryId: testEnvironment.registryId,
    deploymentId: deployment.id,
  }
  const paths = [
    `projects/${ids.projectId}`,
    `projects/${ids.projectId}/versions/${ids.versionId}`,
    `projects/${ids.projectId}/versions/${ids.versionId}/images/${ids.imageId}`,
    `nodes/${ids.nodeId}`,
    `nodes/${ids.nodeId}/_/containers`,
    `nodes/${ids.nodeId}/deployments`,
    `registries/${ids.registryId}`,
    `deployments/${ids.deploymentId}`,
    `deployments/${ids.deploymentId}/releases`,
    `deployments/${ids.deploymentId}/preview`,
    `deployments/${ids.deploymentId}/log?skip=0&take=10`,
  ]
  for (const path of paths) {
    const foreign = await fetch(`${system.url}/api/${teamSlug}/${path}`, { headers: stranger.headers() })
    expect(foreign.status, path).toBe(404)
    const outside = await fetch(`${system.url}/api/${testEnvironment.teamSlug}/${path}`, {
      headers: stranger.headers(),
    })
    expect([403, 404], path).toContain(outside.status)
    expect((await fetch(`${system.url}/api/${testEnvironment.teamSlug}/${path}`)).status, path).toBe(401)
  }
  const nested = await fetch(`${system.url}/api/${teamSlug}/deployments`, {
    method: 'POST',
    headers: { ...stranger.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ versionId: ids.versionId, nodeId: ids.nodeId, prefix: 'stolen', protected: false }),
  })
  expect([403, 404]).toContain(nested.status)
})
