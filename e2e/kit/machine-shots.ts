import type { ResponseOf } from '@crux/contract'
import { expect, type Page } from '@playwright/test'
import type { Shot } from './deployment-shots.ts'
import type { Fixture } from './fixture.ts'

type Answer = ResponseOf<'nodes.machines'>
type Machine = Answer['items'][number]

const gibibyte = 2 ** 30
const worker = (index: number, more: Partial<Machine> = {}): Machine => ({
  name: `pool-a-worker-${index}.eu-central-1.compute.internal`,
  ready: true,
  cordoned: false,
  problems: [],
  kubeletVersion: 'v1.34.1',
  architecture: index % 4 === 0 ? 'arm64' : 'amd64',
  allocatable: { cpuMillis: 3_920, memoryBytes: 15.6 * gibibyte, pods: 110 },
  requested: { cpuMillis: (index * 370) % 3_900, memoryBytes: ((index * 7) % 15) * gibibyte, pods: (index * 13) % 110 },
  ...more,
})
const troubled: Machine[] = [
  worker(417, {
    ready: false,
    cordoned: true,
    problems: [
      {
        type: 'NotReady',
        reason: 'KubeletNotReady',
        message: 'container runtime network not ready: cni plugin not initialized <script>alert(1)</script>',
      },
    ],
  }),
  worker(88, { problems: [{ type: 'DiskPressure', reason: 'KubeletHasDiskPressure', message: null }] }),
  worker(12, { cordoned: true }),
]
const machines = [...troubled, ...Array.from({ length: 497 }, (_, index) => worker(index + 1_000))]
const cluster: Answer['cluster'] = {
  machines: 500,
  ready: 499,
  allocatable: { cpuMillis: 1_960_000, memoryBytes: 7_800 * gibibyte, pods: 55_000 },
  requested: { cpuMillis: 1_834_250, memoryBytes: 4_100 * gibibyte, pods: 27_310 },
}
const none: Answer = {
  missingRight: null,
  items: [],
  total: 0,
  cluster: { machines: 0, ready: 0, allocatable: { cpuMillis: 0, memoryBytes: 0, pods: 0 }, requested: null },
}

/** A page of 500 machines, as the agent pages and searches them. */
function toPage(url: string, list: readonly Machine[] = machines): Answer {
  const { searchParams } = new URL(url)
  const matching = list.filter(({ name }) => name.includes(searchParams.get('search') ?? ''))
  const skip = Number(searchParams.get('skip'))
  const items = matching.slice(skip, skip + Number(searchParams.get('take')))
  return { missingRight: null, items, total: matching.length, cluster }
}

const isMachines = /\/api\/[^/]+\/nodes\/[^/]+\/machines\?/

/** Shows a node as if it were a cluster, with these answers about its machines. */
export async function answerMachines(page: Page, nodeId: string, toAnswer: (url: string) => Answer | undefined) {
  await page.route(new RegExp(`/api/[^/]+/nodes/${nodeId}$`), async (route) => {
    const response = await route.fetch()
    const node: ResponseOf<'nodes.get'> = await response.json()
    await route.fulfill({ response, json: { ...node, type: 'k8s', engineVersion: 'Kubernetes 1.34.1' } })
  })
  await page.route(isMachines, (route) => {
    const answer = toAnswer(route.request().url())
    return answer
      ? route.fulfill({ json: answer })
      : route.fulfill({ status: 500, json: { error: 'internal', message: 'Internal server error', requestId: 'r-1' } })
  })
}

export const fiveHundred = (url: string): Answer => toPage(url)
export const noMachines = (): Answer => none
export const withoutRequests = (url: string): Answer => ({
  ...toPage(
    url,
    machines.slice(0, 3).map((machine) => ({ ...machine, requested: null })),
  ),
  cluster: { ...cluster, machines: 3, ready: 2, requested: null },
})
export const withoutRight = (): Answer => ({
  ...none,
  missingRight: {
    description:
      'The agent has no right to list nodes in the whole cluster: grant its service account the verb "list" on the resource "nodes"',
    agentNamespace: 'crux-agent-019a7d3e',
  },
})

/** Screenshots of the machines of a cluster. */
export function machineShots(fixture: () => Fixture): Shot[] {
  const path = () => `/${fixture().team}/nodes/${fixture().node}?section=machines`
  const shot = (name: string, toAnswer: (url: string) => Answer | undefined, shown: string): Shot => ({
    name: `node-machines${name}`,
    path,
    before: (page) => answerMachines(page, fixture().node, toAnswer),
    act: (page) => expect(page.getByText(shown).first()).toBeVisible({ timeout: 20_000 }),
  })
  return [
    shot('', fiveHundred, 'Not ready, cordoned'),
    shot('-limited', withoutRequests, 'The agent is limited to some namespaces'),
    shot('-right', withoutRight, 'Needs the right to list nodes'),
    shot('-empty', noMachines, 'No machines'),
    shot('-failing', () => undefined, 'This could not be loaded'),
  ]
}
