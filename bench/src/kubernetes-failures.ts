import { randomUUID } from 'node:crypto'
import {
  findKubernetesMachine,
  kubernetesImage,
  kubernetesMissing,
  startOwnKubernetes,
  unique,
  waitFor,
} from '@crux/test-kit'
import { shell } from '../../apps/agent/test/kit/cluster-scripts.ts'
import { loadAgentImage } from '../../apps/agent/test/kit/cluster-services.ts'
import { makeRelease } from '../../apps/agent/test/kit/index.ts'
import { startBundledAgent } from './bundled-agent.ts'
import { percentile, type Report } from './measure.ts'
import { type PodEvent, timeNow, watchPods } from './watch-pods.ts'

const digest = `sha256:${'0'.repeat(64)}`
/** Its name leads nowhere. */
const closed = 'registry.invalid/files:1'

/** What fails, and what the reason says. */
const failures = [
  { image: 'registry.invalid/app:1', digest, config: {}, says: 'the image cannot be pulled' },
  { image: 'localhost/missing:1', localOnly: true, config: {}, says: 'the image is not on the node' },
  { config: shell('echo broken; exit 3'), says: 'ended with exit code 3' },
  {
    config: {
      ...shell('x=a; while true; do x=$x$x; done'),
      resourceConfig: { limits: { memory: '12Mi' } },
    },
    says: 'OOMKilled',
  },
  {
    config: {
      ...shell('sleep 1000'),
      volumes: [{ name: 'conf', path: '/conf', type: 'tmp' as const }],
      configContainer: { image: closed, path: '/conf', keepFiles: false, volume: 'conf' },
    },
    preparationDigests: { [closed]: digest },
    says: 'the files of the volumes cannot be prepared',
  },
]

/**
 * Time from the pod event in a plain watch that says that a container failed to the reason at the server, for images, programs, the memory limit
 * and files that are copied into volumes. The slowest counts.
 */
export async function failureReasons(report: Report, rounds: number): Promise<void> {
  const name = 'failure in the cluster to its reason at the server, slowest'
  const missing = kubernetesMissing()
  if (missing) return report.skipped(name, missing)
  const kubernetes = await startOwnKubernetes()
  const { kubeconfig } = kubernetes
  const machine = await findKubernetesMachine(kubeconfig)
  if (!machine) return report.skipped(name, 'the image of the agent cannot be loaded into this cluster')
  const agent = await startBundledAgent({ kubeconfig, agentImage: await loadAgentImage(machine) })
  const prefix = unique('failing')
  try {
    const delays: number[] = []
    for (let round = 0; round < rounds; round += 1)
      for (const failure of failures) delays.push(await measure(kubeconfig, agent, prefix, failure))
    const details = `median ${percentile(delays, 50).toFixed(0)} ms, ${failures.length} failures, ${rounds} rounds`
    report.number(name, Math.max(...delays), 'ms', '<= 2000', details)
  } finally {
    await agent.end()
    await kubernetes.run('delete', 'namespace', prefix, '--ignore-not-found', '--wait=false')
    await kubernetes.stop()
  }
}

async function measure(
  kubeconfig: string,
  { nodeId, server, teamId }: Awaited<ReturnType<typeof startBundledAgent>>,
  prefix: string,
  { config, says, ...instance }: (typeof failures)[number],
): Promise<number> {
  let knownAt: number | undefined
  const container = unique('web')
  const watched = await watchPods(kubeconfig, prefix, (event) => {
    if (event.object.metadata.name.startsWith(container) && hasFailed(event)) knownAt ??= event.at
  })
  try {
    const release = makeRelease({
      owner: { teamId, projectId: randomUUID(), nodeId, prefix },
      instances: [
        {
          image: kubernetesImage,
          localOnly: !('digest' in instance),
          ...instance,
          config: { name: container, ...config },
        },
      ],
    })
    server.deploy(release)
    await waitFor(`a reason that says ${says}`, () => server.toLines(release).some((line) => line.includes(says)), {
      timeoutMs: 60_000,
      everyMs: 1,
    })
    const reportedAt = timeNow()
    const { successful } = await server.getOutcome(release)
    if (successful) throw new Error(`a release was successful that ${says}`)
    if (knownAt === undefined) throw new Error(`no pod of the cluster failed, although the reason says ${says}`)
    return Math.max(0, reportedAt - knownAt)
  } finally {
    watched.end()
  }
}

const waits = ['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull']

const hasFailed = ({ object: { status } }: PodEvent): boolean =>
  [...status.containerStatuses, ...status.initContainerStatuses].some(
    ({ state }) => (state.terminated?.exitCode ?? 0) > 0 || waits.includes(state.waiting?.reason ?? ''),
  )
