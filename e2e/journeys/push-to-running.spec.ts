import {
  createDeployment,
  createService,
  deploy,
  freePort,
  idle,
  raw,
  registryAccount,
  startRegistry,
  startTokenRegistry,
  type TestEnvironment,
  unique,
  waitFor,
  web,
} from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'
import { configureHook } from '../kit/registry-hook.ts'
import { answers, countRequests } from '../kit/service.ts'
import { startTestSystem } from '../kit/test-system.ts'

/** A registry with token authentication, which the team has with its credentials. */
async function connectTokenRegistry(shared: TestEnvironment) {
  const registry = await startRegistry()
  const gate = await startTokenRegistry(registry)
  const { id } = await shared.user.client.call('registries.create', {
    params: { teamSlug: shared.teamSlug },
    body: {
      name: unique('Tokens '),
      type: 'v2',
      details: { url: `http://${gate.host}`, public: false, ...registryAccount },
    },
  })
  const testEnvironment: TestEnvironment = { ...shared, registry, registryId: id }
  return {
    host: gate.host,
    testEnvironment,
    async remove() {
      await gate.stop()
      await registry.remove()
    },
  }
}

/** A deployment of two services with host ports behind gates, and of one container in the network of the node. */
async function deployServices(testEnvironment: TestEnvironment) {
  const [name, prefix] = [unique('app-'), unique('f')]
  const ports = { api: await freePort(), web: await freePort() }
  const gated = (external: number) => ({ ports: [{ internal: 8080, external }], portGate: { enabled: true } })
  const service = await createService(testEnvironment, [
    { name: `${name}/api`, tag: '1.0', image: web('api 1'), config: { name: 'api', ...gated(ports.api) } },
    { name: `${name}/web`, tag: '1.0', image: web('web 1'), config: { name: 'web', ...gated(ports.web) } },
    { name: `${name}/host`, tag: '1.0', image: idle('host 1'), config: { name: 'host', networkMode: 'host' } },
  ])
  const { id } = await createDeployment(testEnvironment, service, prefix)
  expect((await deploy(testEnvironment, id)).outcome).not.toContain('fail')
  await answers(ports.api, 'api 1')
  await answers(ports.web, 'web 1')
  return {
    id,
    name,
    ports,
    push: async (round: number) => ({
      host: await testEnvironment.registry.push(`${name}/host`, '1.0', idle(`host ${round}`)),
      web: await testEnvironment.registry.push(`${name}/web`, '1.0', web(`web ${round}`)),
      api: await testEnvironment.registry.push(`${name}/api`, '1.0', web(`api ${round}`)),
    }),
    /** The id of the container of an instance. */
    async container(instance: string) {
      const containers = await raw.list(`dev.crux.prefix=${prefix}`)
      return containers.find(({ Names }) => Names.includes(`/${prefix}-${instance}`))?.Id
    },
  }
}

test('a push of a registry with token authentication replaces the container of the instance that follows, without a failed request', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment, host, remove } = await connectTokenRegistry(testSystem.testEnvironment)
  const { teamSlug, registryId, user } = testEnvironment
  const { id, name, ports, push, container } = await deployServices(testEnvironment)
  await configureHook(page, testEnvironment)

  await page.goto(`/${teamSlug}/deployments/${id}`)
  const tags = page.getByRole('list', { name: 'Following tags' })
  const [api, frontend, dangerous] = ['api', 'web', 'host'].map((text) =>
    tags.getByRole('listitem').filter({ hasText: `${name}/${text}:1.0` }),
  )
  if (!api || !frontend || !dangerous) throw new Error('the page shows three instances')
  await dangerous.getByRole('radio', { name: 'Deploy', exact: true }).click()
  await expect(page.getByText('reaches the node itself').first()).toBeVisible()
  await dangerous.getByRole('radio', { name: 'Notify' }).click()
  await frontend.getByRole('radio', { name: 'Notify' }).click()
  await api.getByRole('radio', { name: 'Deploy', exact: true }).click()
  await expect(api.getByText('Deploys as Ada Lovelace')).toBeVisible()
  for (const one of [frontend, dangerous]) await expect(one.getByText('Switched on by Ada Lovelace')).toBeVisible()
  for (const one of [api, frontend, dangerous])
    await expect(one.getByText(/Checked .+ ago|Checked just now/)).toBeVisible()
  await expect(tags.getByText('A newer image is available')).toHaveCount(0)

  const before = { api: await container('api'), web: await container('web'), host: await container('host') }
  const requests = [countRequests(ports.api, ['api 1', 'api 2']), countRequests(ports.web, ['web 1'])]
  const digests = await push(2)
  const releases = page.getByRole('list', { name: 'Releases' })
  await expect(releases.getByText(`New digest of ${host}/${name}/api:1.0`)).toBeVisible()
  await expect(releases.getByRole('listitem').first().getByText('Successful')).toBeVisible()
  await answers(ports.api, 'api 2')
  for (const one of [frontend, dangerous]) await expect(one.getByText('A newer image is available')).toBeVisible()
  await expect(dangerous.getByText(digests.host.slice(0, 19))).toBeVisible()
  await expect(dangerous.getByRole('button', { name: 'Deploy host' })).toBeEnabled()
  for (const request of requests) {
    const { all, failed } = await request.stop()
    expect(all).toBeGreaterThan(10)
    expect(failed).toBe(0)
  }
  expect(await container('api')).not.toBe(before.api)
  expect([await container('web'), await container('host')]).toEqual([before.web, before.host])

  await frontend.getByRole('radio', { name: 'Deploy', exact: true }).click()
  await answers(ports.web, 'web 2')
  await expect(frontend.getByText('A newer image is available')).toBeHidden()
  expect(await container('host')).toBe(before.host)
  const listed = await user.client.call('deployments.releases', { params: { teamSlug, deploymentId: id } })
  expect(listed).toMatchObject([
    { number: 3, trigger: 'follow', instances: [{ digest: digests.web }] },
    { number: 2, trigger: 'follow', instances: [{ digest: digests.api }] },
    { number: 1, trigger: 'user' },
  ])

  await page.goto(`/${teamSlug}/registries/${registryId}`)
  const deliveries = page.getByRole('region', { name: 'Hooks' }).getByRole('row')
  await expect(
    deliveries.filter({ hasText: `${name}/api:1.0` }).getByRole('link', { name: 'Release 2' }),
  ).toHaveAttribute('href', new RegExp(`/${teamSlug}/deployments/${id}`))
  await expect(deliveries.filter({ hasText: `${name}/web:1.0` }).getByRole('link')).toHaveCount(0)
  await remove()
})

test('without hooks, the regular check of the digest replaces the container that follows', async () => {
  const system = await startTestSystem({ env: { FOLLOW_CHECK_SECONDS: '10' } })
  const { user, teamSlug } = system.testEnvironment
  const { id, ports, push, container } = await deployServices(system.testEnvironment)
  const { instances } = await user.client.call('deployments.get', { params: { teamSlug, deploymentId: id } })
  const followed = instances.find(({ image }) => image.name.endsWith('/api'))
  const at = { teamSlug, deploymentId: id, instanceId: followed?.id ?? '' }
  await user.client.call('deployments.update-instance', { params: at, body: { follow: 'deploy' } })
  await waitFor('the tag is checked', async () => {
    const { following } = await user.client.call('deployments.get-instance', { params: at })
    return following?.checkedAt
  })
  const before = await container('web')
  const requests = countRequests(ports.api, ['api 1', 'api 2'])
  const digests = await push(2)
  await waitFor(
    'the new digest runs',
    async () => {
      const [newest] = await user.client.call('deployments.releases', { params: { teamSlug, deploymentId: id } })
      return newest?.status === 'successful' && newest.instances[0]?.digest === digests.api
    },
    { timeoutMs: 60_000 },
  )
  await answers(ports.api, 'api 2')
  expect(await requests.stop()).toMatchObject({ failed: 0 })
  expect(await container('web')).toBe(before)
  await system.end()
})
