import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  connectLocalNode,
  connectRegistry,
  createDeployment,
  createService,
  createTeam,
  deploy,
  finished,
  freePort,
  type Registry,
  removeContainers,
  signUp,
  startDeployment,
  startRegistry,
  type TestEnvironment,
  unique,
  waitFor,
  web,
} from '@crux/test-kit'
import { test as base, expect, type Page } from '@playwright/test'
import { buildInChild } from '../../scripts/build-in-child.ts'
import { needsKubernetes, startCluster, type TestCluster } from '../kit/cluster.ts'
import { addImage, showSetting, signUpInBrowser } from '../kit/console.ts'
import { signedOut } from '../kit/journey.ts'
import { answers } from '../kit/service.ts'
import { startSystem } from '../kit/test-system.ts'

type System = Awaited<ReturnType<typeof startSystem>>

const agentImage = fileURLToPath(new URL('../../apps/agent/dist/agent-image.tar', import.meta.url))

type Place = { cluster: TestCluster; system: System; registry: Registry; registryHost: string; cruxHost: string }

/** A cluster, a system and a registry that both tests share. */
const test = base.extend<Record<never, never>, { place: Place }>({
  place: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads the names of fixtures from this pattern.
    async ({}, use) => {
      const [cluster, registry] = await Promise.all([startCluster(), startRegistry()])
      // Server, agent and engines ask the registry at the address that pods know, and trust the same authority.
      const system = await startSystem({ env: { NODE_EXTRA_CA_CERTS: cluster.caFile } })
      const cruxHost = await cluster.reach(system.port, ['h2', 'http/1.1'])
      const registryHost = await cluster.reach(Number(registry.host.split(':')[1]), ['http/1.1'])
      await cluster.trustRegistry(registryHost, cluster.caFile)
      await buildInChild(['agent-image'])
      await cluster.load(agentImage)
      await use({ cluster, system, registry, registryHost, cruxHost })
      await system.destroy()
      await registry.remove()
      await cluster.end()
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})
test.use({ storageState: signedOut })
needsKubernetes()

test('a new user connects a cluster, deploys to it, sees its pods, and a bad release leaves the service answering', async ({
  page,
  place,
}) => {
  test.setTimeout(420_000)
  const { cluster, cruxHost, registry, registryHost, system } = place
  const prefix = unique('shop')
  const name = 'web'
  const image = `shop/${name}`
  await registry.push(image, '1.0.0', web('hello one'))
  await registry.push(image, '1.1.0', { cmd: ['/bin/sh', '-c', 'echo no database; exit 3'] })

  const { teamSlug } = await signUpInBrowser(page, system.url, { teamName: 'Acme' })
  const open = (path: string) => page.goto(`${system.url}/${teamSlug}/${path}`)
  const main = page.getByRole('main')
  const result = page.getByRole('status', { name: 'Result' })
  const expectAnswer = async () => {
    const address = await cluster.run('get', 'service', name, '-n', prefix, '-o', 'jsonpath={.spec.clusterIP}')
    await answers(`${address}:8080`, 'hello one')
  }

  await test.step('a node: the command that the page shows installs the agent', async () => {
    await open('nodes#new')
    await page.getByLabel('Name', { exact: true }).fill('cluster')
    await page.getByRole('button', { name: 'Create node' }).click()
    const byCommand = page.getByText('Install an agent on this machine with a command')
    await byCommand.click()
    await page.getByRole('radio', { name: 'Kubernetes cluster' }).click()
    await shoot(page, 'node-install-form')
    await page.getByRole('button', { name: 'Generate the command' }).click()
    await expect(page.getByText('Waiting for the agent')).toBeVisible()
    await expect(
      page.getByText(/need the agent's image crux\/agent:\S+: nothing pulls it\. Load the file AGENT_IMAGE_FILE/),
    ).toBeVisible()
    await shoot(page, 'node-install-command')
    const command = (await page.locator('code', { hasText: 'printf' }).textContent()) ?? ''
    const output = await cluster.runInShell(command, { CRUX_AGENT_URL: `https://${cruxHost}` })
    expect(output).toContain('the agent runs in the namespace crux-agent-')
    await expect(main.getByText('Connected', { exact: true })).toBeVisible({ timeout: 60_000 })
    await expect(main.getByText(/^Kubernetes 1\.\d+/)).toBeVisible()
    await expect(page.getByRole('link', { name: 'Images' })).toHaveCount(0)
    await page.getByRole('button', { name: 'More actions' }).first().click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Ingress class').fill('nginx')
    await shoot(page, 'node-settings')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect(form).toHaveCount(0)
  })

  await test.step('a registry, and a project with an image', async () => {
    await open('registries#new')
    await page.getByLabel('Name', { exact: true }).fill('local registry')
    await page.getByRole('textbox', { name: 'Address', exact: true }).fill(`https://${registryHost}`)
    await page.getByRole('button', { name: 'Create registry' }).click()
    await expect(main.getByText('local registry').first()).toBeVisible()
    await open('projects#new')
    await page.getByLabel('Name', { exact: true }).fill('Shop')
    await page.getByRole('switch', { name: 'With versions' }).click()
    await page.getByRole('button', { name: 'Create project' }).click()
    await addImage(page, 'local registry', image)
    await page.getByRole('button', { name: 'Choose a tag' }).click()
    await page.getByRole('dialog').getByRole('button', { name: '1.0.0' }).click()
    await expect(page.getByRole('row', { name: image }).getByText('1.0.0')).toBeVisible()
    await page.getByRole('row', { name: image }).getByRole('button', { name: 'Configuration' }).click()
    await page.waitForURL(/container-configurations/)
    await showSetting(page, 'Ports')
    await page.getByRole('region', { name: 'Ports' }).getByLabel('Inside', { exact: true }).fill('8080')
    await page.keyboard.press('Tab')
    await showSetting(page, 'Deployment strategy')
    await page.getByLabel('Replicas').fill('2')
    await page.keyboard.press('Tab')
    await showSetting(page, 'Routing')
    await page.getByRole('radio', { name: 'HTTP', exact: true }).click()
    await page.getByLabel('Host name').fill('shop.example.com')
    await page.keyboard.press('Tab')
    await expect(page.locator('[data-save=saved]')).toBeVisible()
  })

  await test.step('a deployment is successful when the cluster says so, and its service answers', async () => {
    await open('deployments')
    await page.getByRole('button', { name: 'New deployment' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Project').selectOption({ label: 'Shop' })
    await dialog.getByLabel('Prefix').fill(prefix)
    await dialog.getByRole('button', { name: 'Create deployment' }).click()
    await page.waitForURL(/deployments\/[0-9a-f-]{36}$/)
    await startRelease()
    await expect(result).toContainText('1 image deployed', { timeout: 120_000 })
    await expectAnswer()
    await shoot(page, 'release-on-cluster')
  })

  await test.step('its pods are folded into one row, and their logs are one', async () => {
    await page.getByRole('link', { name: 'Containers on cluster' }).click()
    const row = page.getByRole('row', { name: `${prefix}-${name}` })
    await row.getByRole('button', { name: '2 of 2 ready' }).click()
    const pods = page.getByRole('list', { name: `Pods of ${prefix}-${name}` })
    await expect(pods.getByRole('listitem')).toHaveCount(2)
    await shoot(page, 'containers-with-pods')
    await pods
      .getByRole('link', { name: /^Log of/ })
      .first()
      .click()
    await expect(page.getByText('listening on :8080')).toHaveCount(1)
    await page.getByRole('link', { name: 'Log of all pods' }).click()
    await expect(page.getByText('listening on :8080')).toHaveCount(2)
  })

  await test.step('its address is pending until the cluster gives one, which the open pages show', async () => {
    await page.goBack()
    await page.goBack()
    const row = page.getByRole('row', { name: `${prefix}-${name}` })
    await expect(row.getByText('Pending')).toBeVisible()
    await shoot(page, 'address-pending')
    const addresses = { status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }, { hostname: 'lb.example.com' }] } } }
    await cluster.run(
      ...['patch', 'ingress', name, '-n', prefix, '--subresource=status', '--type=merge', '-p'],
      JSON.stringify(addresses),
    )
    await expect(row.getByText('203.0.113.7')).toBeVisible({ timeout: 20_000 })
    await expect(row.getByText('Pending')).toHaveCount(0)
    await row.getByRole('link', { name: `${prefix}-${name}` }).click()
    await expect(main.getByText('lb.example.com')).toBeVisible()
    const details = page.getByRole('region', { name: 'Details from the engine' })
    await expect(details.getByText('dev.crux.prefix', { exact: true })).toBeVisible()
    await expect(details.getByText('2/2', { exact: true })).toBeVisible()
    await shoot(page, 'address-of-container')
    await details.getByRole('radio', { name: 'YAML' }).click()
    await expect(details.getByRole('region', { name: 'YAML' })).toContainText('apiVersion: apps/v1')
    await shoot(page, 'yaml-of-container')
  })

  await test.step('a release that does not start is put back, and the page says why', async () => {
    await open('projects')
    await page.getByRole('link', { name: 'Shop' }).first().click()
    const row = page.getByRole('row', { name: image })
    await row.getByRole('button', { name: 'Change the tag' }).click()
    await page.getByRole('dialog').getByRole('button', { name: '1.1.0' }).click()
    await expect(row.getByText('1.1.0', { exact: true })).toBeVisible()
    await open('deployments')
    await page.getByRole('row', { name: prefix }).getByRole('link', { name: 'Shop' }).click()
    await page.waitForURL(/deployments\/[0-9a-f-]{36}$/)
    await startRelease()
    await expect(result).toContainText(/exit code 3/, { timeout: 120_000 })
    await expect(page.getByText('no database').first()).toBeVisible()
    await shoot(page, 'failed-release-on-cluster')
    await expectAnswer()
  })

  await test.step('what others change in the cluster is shown on the open page, and put back', async () => {
    await page.getByRole('link', { name: 'Shop' }).first().click()
    await page.waitForURL(/deployments\/[0-9a-f-]{36}$/)
    const drift = page.getByRole('region', { name: 'Changed in the cluster' })
    await expect(page.getByRole('heading', { level: 1, name: 'Shop' })).toBeVisible()
    await expect(drift).toHaveCount(0)
    const patch = JSON.stringify({ spec: { replicas: 1 } })
    await cluster.run('patch', 'deployment', name, '-n', prefix, '--field-manager=somebody', '-p', patch)
    await expect(drift).toContainText('replicas', { timeout: 90_000 })
    await shoot(page, 'drift-on-cluster')
    await drift.getByRole('button', { name: 'Put it back' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Put it back' }).click()
    await page.waitForURL(/\/deploy$/)
    await expect(result).toContainText('1 image deployed', { timeout: 120_000 })
    await page.goBack()
    await expect(page.getByRole('heading', { level: 1, name: 'Shop' })).toBeVisible()
    await expect(drift).toHaveCount(0)
    expect(await cluster.run('get', 'deployment', name, '-n', prefix, '-o', 'jsonpath={.status.readyReplicas}')).toBe(
      '2',
    )
    await expectAnswer()
  })

  async function startRelease() {
    await expect(page.getByRole('heading', { level: 1, name: 'Shop' })).toBeVisible()
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.waitForURL(/\/deploy$/)
  }
})

test('one version runs on a cluster and on a Docker node, and is promoted from one to the other', async ({ place }) => {
  test.setTimeout(180_000)
  const { cluster, registryHost } = place
  const { onCluster, testEnvironment } = await connectCluster(place)
  const { teamId, teamSlug, user } = testEnvironment
  const { call } = user.client
  const inTeam = { teamSlug }
  const onDocker = await connectLocalNode(user, teamSlug)

  const port = await freePort()
  const name = unique('web')
  const service = await createService(
    testEnvironment,
    [
      {
        name: `shop/${name}`,
        tag: '1.0.0',
        image: web('hello everywhere'),
        config: { name, ports: [{ id: crypto.randomUUID(), internal: 8080, external: port }] },
      },
    ],
    { versioned: '1.0.0' },
  )
  const pack = await call('packages.create', { params: inTeam, body: { name: 'Shop', chainIds: [service.versionId] } })
  const inPackage = { ...inTeam, packageId: pack.id }
  const prefixes = { dev: unique('dev'), prod: unique('prod') }
  const dev = await call('packages.create-environment', {
    params: inPackage,
    body: { name: 'dev', nodeId: onCluster.nodeId, prefix: prefixes.dev },
  })
  const prod = await call('packages.create-environment', {
    params: inPackage,
    body: { name: 'prod', nodeId: onDocker, prefix: prefixes.prod },
  })
  const first = await createDeployment(testEnvironment, service, prefixes.dev)
  expect(await deploy(testEnvironment, first.id)).toMatchObject({ status: 'successful' })
  const clusterAddress = await cluster.run(
    ...['get', 'service', name, '-n', prefixes.dev, '-o', 'jsonpath={.spec.clusterIP}'],
  )
  await answers(`${clusterAddress}:${port}`, 'hello everywhere')

  trustOnDocker(registryHost, cluster.caFile)
  try {
    const { deploymentId } = await call('packages.promote', {
      params: { ...inPackage, environmentId: prod.id },
      body: { versionId: service.versionId, fromEnvironmentId: dev.id },
    })
    expect(await finished(testEnvironment, deploymentId ?? '')).toMatchObject({ status: 'successful' })
  } finally {
    trustOnDocker(registryHost, undefined)
  }
  await answers(port, 'hello everywhere')
  await removeContainers(`dev.crux.team=${teamId}`)
  await cluster.run('delete', 'namespace', prefixes.dev, '--wait=false')
})

test('a release goes on when the pod of its agent is deleted, with another one that waited', async ({ place }) => {
  test.setTimeout(180_000)
  const { cluster } = place
  const { onCluster, testEnvironment } = await connectCluster(place)
  const { namespace } = onCluster
  await cluster.run('scale', 'deployment', 'crux-agent', '-n', namespace, '--replicas=2')
  await cluster.run('rollout', 'status', 'deployment', 'crux-agent', '-n', namespace, '--timeout=60s')
  const name = unique('slow')
  const image = web('hello')
  const service = await createService(testEnvironment, [
    {
      name: `shop/${name}`,
      tag: '1',
      image: { ...image, cmd: ['/bin/sh', '-c', `sleep 6; ${image.cmd?.at(-1)}`] },
      config: { name, healthCheckConfig: { port: 8080, readinessProbe: '/' } },
    },
  ])
  const prefix = unique('slow')
  const { id } = await createDeployment(testEnvironment, service, prefix)
  await startDeployment(testEnvironment, id)
  await waitFor('its pod', async () => (await cluster.run('get', 'pods', '-n', prefix, '-o', 'name')).includes(name), {
    timeoutMs: 60_000,
    everyMs: 200,
  })
  const holder = await cluster.run(
    ...['get', 'lease', 'crux-agent', '-n', namespace, '-o', 'jsonpath={.spec.holderIdentity}'],
  )
  const pods = (await cluster.run('get', 'pods', '-n', namespace, '-o', 'name')).trim().split('\n')
  const working = pods.find((pod) => holder.startsWith(pod.replace('pod/', ''))) ?? ''
  expect(pods).toHaveLength(2)
  await cluster.run('delete', working, '-n', namespace, '--grace-period=0', '--force')
  expect(await finished(testEnvironment, id, { timeoutMs: 90_000 })).toMatchObject({ status: 'successful' })
  await cluster.run('delete', 'namespace', prefix, '--wait=false')
})

/** A new team with a node for the cluster, installed by its command, and the registry that pods reach. */
async function connectCluster({ cluster, cruxHost, registry, registryHost, system }: Place) {
  const user = await signUp(system.url)
  const { call } = user.client
  const team = await createTeam(user)
  const inTeam = { teamSlug: team.teamSlug }
  const { id: nodeId } = await call('nodes.create', { params: inTeam, body: { name: 'cluster' } })
  const { command, manifest } = await call('nodes.create-script', {
    params: { ...inTeam, nodeId },
    body: { type: 'k8s', scriptType: 'shell' },
  })
  await cluster.runInShell(command, { CRUX_AGENT_URL: `https://${cruxHost}` })
  const registryId = await connectRegistry(user, team.teamSlug, { ...registry, host: `https://${registryHost}` })
  await waitFor(
    'the agent in the cluster is connected',
    async () => (await call('nodes.get', { params: { ...inTeam, nodeId } })).status === 'connected',
    { timeoutMs: 60_000, everyMs: 200 },
  )
  const testEnvironment: TestEnvironment = { user, ...team, nodeId, registryId, registry }
  return { testEnvironment, onCluster: { nodeId, namespace: manifest?.namespace ?? '' } }
}

/** Lets the Docker engine of this machine pull from a registry of an authority of its own, or no more. */
function trustOnDocker(host: string, caFile: string | undefined): void {
  const directory = `/etc/docker/certs.d/${host}`
  rmSync(directory, { recursive: true, force: true })
  if (!caFile) return
  mkdirSync(directory, { recursive: true })
  copyFileSync(caFile, `${directory}/ca.crt`)
}

/** The page in both themes, wide and narrow. */
async function shoot(page: Page, name: string): Promise<void> {
  for (const [colorScheme, width] of [
    ['light', 1440],
    ['dark', 1440],
    ['light', 375],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 860 })
    await page.screenshot({ path: test.info().outputPath(`${name}-${colorScheme}-${width}.png`), fullPage: true })
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1440, height: 860 })
}
