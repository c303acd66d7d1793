import { fileURLToPath } from 'node:url'
import type { Container, Pod } from '@crux/contract'
import type { Page } from '@playwright/test'
import { buildFixture, type Fixture } from '../kit/fixture.ts'
import { expect, test } from '../kit/journey.ts'

const directory = fileURLToPath(new URL('../screenshots/', import.meta.url))
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

const toPod = (name: string, more: Partial<Pod> = {}): Pod => ({
  name,
  state: 'running',
  reason: 'Running',
  ready: true,
  restartCount: 0,
  machine: 'pool-a-worker-417.eu-central-1.compute.internal',
  createdAt: minutesAgo(12),
  ...more,
})
const toWorkload = (name: string, pods: Pod[], more: Partial<Container> = {}): Container => ({
  id: { prefix: '', name: `shop-${name}` },
  managed: { prefix: 'shop', name },
  command: '',
  createdAt: minutesAgo(60),
  startedAt: minutesAgo(50),
  state: 'running',
  reason: 'running',
  status: `${pods.length} of ${pods.length} pods ready`,
  imageName: `harbor.eu-central-1.example.com:5443/acme/${name}`,
  imageTag: '',
  ports: [{ internal: 8080 }],
  labels: { 'dev.crux.prefix': 'shop' },
  pods: { total: pods.length, items: pods },
  ...more,
})
const crashing = {
  state: 'waiting',
  reason: 'CrashLoopBackOff',
  ready: false,
  exitCode: 137,
  restartCount: 12,
} as const
const forty = Array.from({ length: 40 }, (_, index) =>
  toPod(`worker-5f8b9c7d4-${index}`, index % 7 === 3 ? crashing : {}),
)
const unscheduled = { state: 'waiting', reason: 'Unschedulable', ready: false, machine: '' } as const
const quota = 'pods "batch-5f8b9c7d4-" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=10'

const workloads: Container[] = [
  toWorkload('web', [toPod('web-5f8b9c7d4-x7k2p')], { externalAddresses: [{ type: 'ingress', addresses: [] }] }),
  toWorkload('api', [toPod('api-5f8b9c7d4-x7k2p'), toPod('api-5f8b9c7d4-q2w3e', unscheduled)], {
    status: '1 of 2 pods ready: Unschedulable',
    externalAddresses: [{ type: 'load-balancer', addresses: ['203.0.113.7', 'a1b2c3d4e5f6.elb.example.com'] }],
  }),
  toWorkload('worker', forty, { restartCount: 72, status: '34 of 40 pods ready: CrashLoopBackOff' }),
  toWorkload('off', [], { pods: undefined, state: 'exited', status: 'Stopped', startedAt: null }),
  toWorkload('batch', [], { pods: undefined, state: 'waiting', status: quota, startedAt: null }),
  toWorkload(
    'migrate',
    [toPod('migrate-3-5f0c2a91', { state: 'exited', reason: 'Completed', ready: false, exitCode: 0 })],
    {
      ...{ state: 'exited', status: 'Completed', exitCode: 0, ports: [], isJob: true },
    },
  ),
]

let fixture: Fixture
test.beforeAll(async ({ testSystem }) => {
  test.setTimeout(180_000)
  fixture = await buildFixture(testSystem.testEnvironment)
})

/** Opens a page of a node as if it were a cluster with these workloads. */
async function open(page: Page, path: string) {
  await page.route(new RegExp(`/api/[^/]+/nodes/${fixture.node}$`), async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), type: 'k8s' } })
  })
  await page.routeWebSocket(/\/api$/, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((text) => {
      const frame = JSON.parse(String(text))
      if (/containers-state-list$/.test(frame.type)) frame.data.containers = workloads
      socket.send(JSON.stringify(frame))
    })
  })
  await page.goto(`/${fixture.team}/nodes/${fixture.node}${path}`)
}
const row = (page: Page, name: string) => page.getByRole('row', { name: `shop-${name}` })

test('each workload of a cluster says how many of its pods are ready, and a stopped one is no failure', async ({
  page,
}) => {
  await open(page, '')
  await expect(row(page, 'web')).toContainText('1 of 1 ready')
  await expect(row(page, 'web').getByText('Pending')).toBeVisible()
  await expect(row(page, 'api')).toContainText('1 of 2 ready')
  await expect(row(page, 'api').getByTitle('Unschedulable', { exact: true })).toBeVisible()
  await expect(row(page, 'worker')).toContainText('34 of 40 ready')
  await expect(row(page, 'off')).toContainText('Stopped')
  await expect(row(page, 'off')).toContainText('No pods')
  await expect(row(page, 'off').getByRole('button', { name: 'pods' })).toHaveCount(0)
  await expect(row(page, 'migrate')).toContainText('1 pod')
  await expect(row(page, 'migrate').getByRole('button', { name: 'Start', exact: true })).toHaveAttribute(
    'aria-disabled',
    'true',
  )
  await expect(row(page, 'off').getByRole('button', { name: 'Start', exact: true })).not.toHaveAttribute(
    'aria-disabled',
    'true',
  )
  await expect(page.getByRole('radio', { name: 'Failing 2' })).toBeVisible()
})

test('pods are folded out by the keyboard, and each shows its age without scrolling sideways', async ({ page }) => {
  await open(page, '')
  for (const name of ['api', 'worker']) {
    const fold = row(page, name).getByRole('button', { name: 'ready' })
    await fold.press('Enter')
    await expect(fold).toHaveAttribute('aria-expanded', 'true')
  }
  const pods = page.getByRole('list', { name: 'Pods of shop-api' })
  await expect(pods.getByRole('listitem')).toHaveCount(2)
  await expect(page.getByRole('list', { name: 'Pods of shop-worker' }).getByRole('listitem')).toHaveCount(40)
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1440, 1024, 375]) {
      await page.setViewportSize({ width, height: width === 375 ? 812 : 900 })
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await expect(page.locator(`html[data-theme=${theme}]`)).toBeVisible()
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      for (const age of await pods.getByText('12 min').all()) {
        const { x = 0, width: ageWidth = 0 } = (await age.boundingBox()) ?? {}
        expect(x + ageWidth).toBeLessThanOrEqual(width)
      }
      await page.screenshot({ path: `${directory}node-pods-${theme}-${width}.png`, animations: 'disabled' })
    }
})

test('the page of a workload without pods says why there are none', async ({ page }) => {
  await open(page, '/inspect?prefix=shop&name=batch')
  await expect(page.getByText('There is no pod at the moment.')).toBeVisible()
  await expect(page.getByRole('main').getByText(quota)).toBeVisible()
})
