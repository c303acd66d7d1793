import { createDeployment, createService, deploy, freePort, unique, web } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

test('a port and a host name that another deployment holds are shown before deploying, and go when they are changed', async ({
  page,
  stage,
}) => {
  const { world } = stage
  const [taken, free] = [await freePort(), await freePort()]
  const host = `${unique('shop')}.example`
  const routed = { expose: 'expose', routing: { domain: host, port: 8080 } } as const
  const port = { id: crypto.randomUUID(), internal: 8080, external: taken }
  const service = (config: Parameters<typeof createService>[1][number]['config']) =>
    createService(world, [{ name: `ports/${unique('a')}`, tag: '1', image: web('ports'), config }])
  const holder = await createDeployment(world, await service({ name: 'web', ports: [port], ...routed }), unique('held'))
  expect((await deploy(world, holder.id)).status).toBe('successful')

  const second = await service({ name: 'api', ...routed })
  const { id } = await createDeployment(world, second, unique('asks'))
  const params = { teamSlug: world.teamSlug, deploymentId: id }
  const { instances, node } = await world.person.client.call('deployments.get', { params })
  const configId = instances[0]?.config.id ?? ''
  await world.person.client.call('container-configurations.update', {
    params: { teamSlug: world.teamSlug, configId },
    body: { config: { ports: [port] } },
  })
  await page.goto(`/${world.teamSlug}/container-configurations/${configId}`)
  const section = (name: string) => page.getByRole('region', { name, exact: true })
  const nav = page.getByRole('navigation', { name: 'Settings' })
  const words = `Port ${taken} of ${node.name} is used by ${holder.prefix}-web`
  await expect(section('Ports').getByText(words)).toBeVisible()
  await expect(section('Ports').getByLabel('on the node')).toHaveAttribute('aria-invalid', 'true')
  await expect(section('Before you deploy').getByText(words)).toBeVisible()
  await expect(
    section('Before you deploy').getByText(`${host}/ is in use on this node by ${holder.prefix}-web`),
  ).toBeVisible()
  await expect(nav.getByRole('button', { name: 'Ports' })).toHaveAccessibleDescription('has a problem')
  await section('Ports').getByLabel('on the node').fill(String(free))
  await expect(section('Before you deploy').getByText(words)).toBeHidden()
  await expect(section('Ports').getByText(words)).toBeHidden()
})
