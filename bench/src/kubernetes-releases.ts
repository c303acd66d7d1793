import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kubernetesImage, kubernetesMissing, startOwnKubernetes, unique, waitFor } from '@crux/test-kit'
import { ports, serve } from '../../apps/agent/test/kit/cluster-scripts.ts'
import { makeRelease } from '../../apps/agent/test/kit/index.ts'
import { startBundledAgent } from './bundled-agent.ts'
import { interleave, type Report, timed } from './measure.ts'

type Kubernetes = Awaited<ReturnType<typeof startOwnKubernetes>>
type Json = Record<string, unknown>

/** In the order in which they are applied: a pod that starts before its ConfigMap exists waits for it. */
const kinds = 'configmaps,services,deployments'
const peerLabel = 'peer.example.com/'

/**
 * A release that replaces all of its containers, from the command on the link to the outcome, against `kubectl apply` and then
 * `kubectl rollout status` of the same objects in another namespace: with the same window of observation and the same time to drain.
 */
export async function kubernetesReleases(
  report: Report,
  { containers, rounds }: { containers: number; rounds: number },
): Promise<void> {
  const name = `release of ${containers} on Kubernetes / kubectl apply and rollout status`
  const missing = kubernetesMissing()
  if (missing) return report.skipped(name, missing)
  const kubernetes = await startOwnKubernetes()
  const directory = await mkdtemp(join(tmpdir(), 'crux-bench-release-'))
  const prefix = unique('ours')
  const peer = unique('peer')
  const agent = await startBundledAgent({ kubeconfig: kubernetes.kubeconfig })
  try {
    const ours = createReleases(agent, prefix, containers)
    await ours()
    await kubernetes.run('create', 'namespace', peer)
    const theirs = await createPeer(kubernetes, { from: prefix, namespace: peer, directory })
    await theirs()
    // What the previous round replaced must not take time from the next one.
    const quietly = (namespace: string, side: () => Promise<number>) => async () => {
      const took = await side()
      await waitFor(
        `the end of the previous pods in ${namespace}`,
        async () =>
          (await kubernetes.run('get', 'pods', '--namespace', namespace, '-o', 'name')).trim().split('\n').length ===
          containers,
        { timeoutMs: 60_000, everyMs: 200 },
      )
      return took
    }
    const sides = await interleave(rounds, { ours: quietly(prefix, ours), theirs: quietly(peer, theirs) })
    report.ratio(name, sides, '<= 1.1', 'ms')
  } finally {
    await agent.end()
    await kubernetes.run('delete', 'namespace', prefix, peer, '--ignore-not-found', '--wait=false')
    await kubernetes.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** @returns what releases the next version and takes its time */
function createReleases(
  { nodeId, server, teamId }: Awaited<ReturnType<typeof startBundledAgent>>,
  prefix: string,
  containers: number,
): () => Promise<number> {
  const owner = { teamId, projectId: randomUUID(), nodeId, prefix }
  const deploymentId = randomUUID()
  const instances = Array.from({ length: containers }, (_, index) => ({
    instanceId: randomUUID(),
    name: `c${index}`,
  }))
  let number = 0
  return async () => {
    number += 1
    const release = makeRelease({
      owner,
      deploymentId,
      number,
      previous:
        number === 1
          ? []
          : instances.map(({ instanceId, name }) => ({ containerName: `${prefix}-${name}`, instanceId })),
      instances: instances.map(({ instanceId, name }) => ({
        instanceId,
        image: kubernetesImage,
        localOnly: true,
        config: { name, ...serve(name), ports, environment: [{ key: 'VERSION', value: String(number) }] },
      })),
    })
    const took = await timed(async () => {
      server.deploy(release)
      const { reason, successful } = await server.waitForOutcome(release, 120_000)
      if (!successful) throw new Error(reason)
    })
    await server.getOutcome(release, 120_000)
    return took
  }
}

/** @returns what applies the next version of the objects of a namespace to another one, waits for the rollout and takes its time */
async function createPeer(
  { run }: Kubernetes,
  { directory, from, namespace }: { directory: string; from: string; namespace: string },
): Promise<() => Promise<number>> {
  const { items }: { items: Found[] } = JSON.parse(await run('get', kinds, '--namespace', from, '-o', 'json'))
  const objects = items.flatMap((item) => toApplied(item, namespace))
  const configMaps = objects.flatMap(({ kind, metadata }) => (kind === 'ConfigMap' ? [metadata.name] : []))
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }).replaceAll('dev.crux.', peerLabel)
  let number = 1_000
  return async () => {
    number += 1
    const file = join(directory, `${number}.json`)
    const named = configMaps.reduce(
      (all, name) => all.replaceAll(`"${name}"`, `"${name.split('-')[0]}-${number}"`),
      text,
    )
    await writeFile(file, named.replaceAll(/"VERSION":"\d+"/g, `"VERSION":"${number}"`))
    return timed(async () => {
      await run('apply', '--namespace', namespace, '-f', file)
      await run('rollout', 'status', 'deployment', '--namespace', namespace, '-l', `${peerLabel}team`)
    })
  }
}

interface Found {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  data?: Json
  immutable?: boolean
  spec?: Json
}

/** The object as somebody would write it in a file: without what the cluster added. */
function toApplied({ apiVersion, data, immutable, kind, metadata, spec }: Found, namespace: string) {
  if (metadata.name === 'kube-root-ca.crt') return []
  const { clusterIP: _address, clusterIPs: _addresses, ...wanted } = spec ?? {}
  return [
    {
      apiVersion,
      kind,
      metadata: { name: metadata.name, namespace, labels: metadata.labels },
      ...(spec && { spec: wanted }),
      ...(data && { data, immutable }),
    },
  ]
}
