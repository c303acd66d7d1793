import { randomUUID } from 'node:crypto'
import type { Outcome, Release } from '@crux/agent-protocol'
import { containerConfigGroups } from '@crux/contract'
import { forwardToKubernetes, idle, kubernetesMissing, storageAccount } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClusterObject } from '../src/engines/kubernetes/cluster/cluster.ts'
import { getFields, holdsBack, packRows, type RowConfig } from './field-table/row.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { toLabels } from './kit/cluster-objects.ts'
import { type Preparations, startPreparations } from './kit/preparations.ts'
import { waitUntil } from './kit/wait-until.ts'
import { commonRows } from './kubernetes-field-table/common-rows.ts'
import { kubernetesRows } from './kubernetes-field-table/kubernetes-rows.ts'
import { refusedRows } from './kubernetes-field-table/refused-rows.ts'
import { type FieldRow, findOutput, type RowKit, type Seen, toProgram } from './kubernetes-field-table/row.ts'

const missing = kubernetesMissing()
const settings = { ingressClass: 'nginx', certificateIssuer: 'letsencrypt', storageClasses: ['standard'] }

/** One container with the rows that it shows. */
interface Packed {
  name: string
  config: RowConfig
  image: string | undefined
  rows: FieldRow[]
}

/** Containers that are applied together. */
interface Group {
  release: Release
  prefix: string
  packed: readonly Packed[]
  outcome?: Outcome
}

describe.skipIf(missing)('every field of a container configuration on Kubernetes', () => {
  let agent: ClusterAgent
  let started: Preparations | undefined
  let kit: RowKit
  let rows: FieldRow[]
  let groups: Group[]

  beforeAll(async () => {
    started = await startPreparations()
    agent = started?.agent ?? (await startClusterAgent())
    const host = `${agent.owner.prefix}.example.com`
    kit = { ...(await publishAll(started)), host, seal: agent.seal }
    rows = [...(await commonRows(kit)), ...kubernetesRows(kit)]
    const packed = packRows(rows).map((one, index): Packed => ({ ...one, name: `f${index}` }))
    // Others wait for one that holds back, so each of these has a release and a namespace of its own.
    const alone = packed.filter(({ config }) => holdsBack(config))
    const together = packed.filter((one) => !alone.includes(one))
    groups = [
      toGroup(agent, agent.owner.prefix, together, started),
      ...alone.map((one) => toGroup(agent, agent.newNamespace(), [one], started)),
    ]
    await Promise.all(
      groups.map(async (group) => {
        group.outcome = await agent.server.deployAndWait(group.release, 150_000)
      }),
    )
  })
  afterAll(async () => {
    await (started ?? agent)?.dispose()
  })

  test('is applied', () => {
    expect(groups.map(({ outcome }) => outcome?.reason)).toEqual(groups.map(() => ''))
  })

  test('appears in the cluster as it was configured', async () => {
    const seen = (await Promise.all(groups.map((group) => look(agent, group)))).flat()
    const results = await Promise.allSettled(seen.map(async ({ row, ...found }) => row.check(found)))
    const failures = results.flatMap((result, index) =>
      result.status === 'rejected' ? [`${seen[index]?.row.says}: ${String(result.reason)}`] : [],
    )
    expect(failures).toEqual([])
    expect(seen).toHaveLength(rows.length)
  })

  test.each(refusedRows)('is refused before anything is changed where it cannot be: $says', async (row) => {
    const release = agent.release({
      hostDangerousAllowed: true,
      cluster: { ...settings, ...row.cluster },
      instances: [{ config: { name: 'refused', ...row.config } }],
    })
    const { reason, successful } = await agent.server.deployAndWait(release)
    expect(reason).toMatch(row.reason)
    expect(successful).toBe(false)
    expect(await agent.get('Deployment', 'refused')).toBeUndefined()
  })

  test('has a row in the table, or is refused', () => {
    const covered = new Set<string>(['name', ...rows.flatMap(getFields)])
    const refused = new Set<string>(refusedRows.flatMap(getFields))
    const wanted = [...containerConfigGroups.common, ...containerConfigGroups.kubernetes]
    expect(wanted.filter((field) => !covered.has(field) && !refused.has(field))).toEqual([])
    // The pods of a cluster of another origin reach no registry and no storage of this machine.
    const absent = [...(kit.files ? [] : ['configContainer']), ...(kit.bucket ? [] : ['storage'])]
    expect(wanted.filter((field) => !covered.has(field))).toEqual(absent)
  })
})

async function publishAll(started: Preparations | undefined): Promise<Pick<RowKit, 'images' | 'files' | 'bucket'>> {
  if (!started) return { images: undefined, files: undefined, bucket: undefined }
  const { agent, host, publish, registry, storage } = started
  await forwardToKubernetes(agent.kubeconfig, Number(registry.host.split(':')[1]))
  const script = 'echo "entrypoint: $1"; exec sleep 1000'
  await registry.push('user', '1', { ...idle(), user: '7' })
  await registry.push('entrypoint', '1', { entrypoint: ['/bin/sh', '-c', script, 'entrypoint'] })
  const { digest } = await publish('files', { '/etc/app/file': 'from the image' })
  await storage?.createBucket('rows')
  await storage?.put('rows', 'site/file', 'from the bucket')
  return {
    images: { user: `${registry.host}/user:1`, entrypoint: `${registry.host}/entrypoint:1` },
    files: `${host}/files@${digest}`,
    bucket: storage && 'rows',
  }
}

function toGroup(
  agent: ClusterAgent,
  prefix: string,
  packed: readonly Packed[],
  started: Preparations | undefined,
): Group {
  const url = started?.storage?.podUrl
  const release = agent.release({
    owner: { ...agent.owner, prefix },
    hostDangerousAllowed: true,
    cluster: settings,
    instances: packed.map(({ config, image, name, rows }) => ({
      instanceId: randomUUID(),
      ...(image !== undefined && { image }),
      ...(config.storage && url !== undefined && { storage: { url, ...storageAccount } }),
      config: { name, stopGracePeriodSeconds: 1, ...(hasProgram(config) ? {} : toProgram(rows)), ...config },
    })),
  })
  return { release, prefix, packed }
}

const hasProgram = ({ args, commands }: RowConfig): boolean => Boolean(args || commands)

/** Reads everything once, and the logs of the containers until their scripts have ended. */
async function look(agent: ClusterAgent, { packed, prefix, release }: Group): Promise<(Seen & { row: FieldRow })[]> {
  const kinds = ['Deployment', 'Job', 'Pod', 'Service', 'Ingress'] as const
  const [deployments = [], jobs = [], pods = [], services = [], ingresses = []] = await Promise.all(
    kinds.map((kind) => agent.list(kind, prefix)),
  )
  const events = release.key ? agent.server.listEvents(release.key) : []
  const found = packed.map(async ({ config, name, rows }, index) => {
    const isSame = (object: ClusterObject) => toLabels(object)['dev.crux.name'] === name
    const workload = [...deployments, ...jobs].find(isSame)
    if (!workload) throw new Error(`there is no workload of ${name}`)
    const own = pods.filter(isSame)
    const instanceId = release.instances[index]?.instanceId
    const reported = events.flatMap(({ event }) =>
      (event.case === 'phase' || event.case === 'log') && event.value.instanceId === instanceId
        ? event.case === 'phase'
          ? [event.value.detail]
          : event.value.lines
        : [],
    )
    const outputs = await readOutputs(agent, own[0], hasProgram(config) ? [] : rows)
    return rows.map((row, at) => ({
      row,
      agent,
      name,
      workload,
      pods: own,
      service: services.find(isSame),
      ingress: ingresses.find(isSame),
      output: outputs(at),
      reported,
    }))
  })
  return (await Promise.all(found)).flat()
}

/** @param rows with scripts; none: the container runs a program of its own, whose whole output counts */
async function readOutputs(
  { cluster }: ClusterAgent,
  pod: ClusterObject | undefined,
  rows: readonly FieldRow[],
): Promise<(row: number) => string> {
  if (!pod) return () => ''
  const read = async () => {
    const lines: string[] = []
    const { name, namespace } = pod
    const container = toLabels(pod)['dev.crux.name'] ?? ''
    const log = cluster.readLog({ namespace, name, container }, { take: 1_000, follow: false })
    for await (const chunk of log) lines.push(...chunk.map(({ text }) => text))
    return lines
  }
  if (rows.length === 0) {
    const log = await waitUntil(`the log of ${pod.name}`, async () => {
      const lines = await read()
      return lines.length > 0 && lines
    })
    return () => log.join('\n')
  }
  const log = await waitUntil(`the scripts in ${pod.name}`, async () => {
    const lines = await read()
    return findOutput(lines, rows, 0) !== undefined && lines
  })
  return (row) => findOutput(log, rows, row) ?? ''
}
