import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { kubernetesImage, startKubernetes } from '@crux/test-kit'
import { openAccess } from '../../src/engines/kubernetes/client/access.ts'
import { Api, type ApiOptions } from '../../src/engines/kubernetes/client/api.ts'
import { openCluster } from '../../src/engines/kubernetes/client/open-cluster.ts'
import type { Manifest } from '../../src/engines/kubernetes/cluster/cluster.ts'
import { label, ownerLabels } from '../../src/engines/labels.ts'

export const silent = createLogger({ name: 'test', level: 'silent' })

/** Labels of everything that a deployment of Crux creates under the prefix. */
export const toOwnLabels = (prefix: string, name: string): Record<string, string> => ({
  ...ownerLabels({ teamId: 'team-1', projectId: 'project-1', nodeId: 'node-1', prefix }),
  [label.name]: name,
  [label.instance]: `instance-${name}`,
})

interface WorkloadOptions {
  kind?: 'Deployment' | 'Job'
  replicas?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  image?: string
  env?: { name: string; value: string }[]
  container?: Record<string, unknown>
}

/** A workload that runs a shell script, and ends at once on SIGTERM. */
export function toWorkload(
  namespace: string,
  name: string,
  script: string,
  {
    annotations,
    container,
    env = [],
    image = kubernetesImage,
    kind = 'Deployment',
    replicas = 1,
    ...more
  }: WorkloadOptions = {},
): Manifest {
  const labels = more.labels ?? toOwnLabels(namespace, name)
  const isJob = kind === 'Job'
  return {
    apiVersion: isJob ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name, namespace, labels, annotations },
    spec: {
      ...(isJob ? { backoffLimit: 0 } : { replicas, selector: { matchLabels: { app: name } } }),
      template: {
        metadata: { labels: { app: name, ...labels } },
        spec: {
          terminationGracePeriodSeconds: 1,
          ...(isJob && { restartPolicy: 'Never' }),
          containers: [
            {
              name,
              image,
              imagePullPolicy: 'IfNotPresent',
              command: ['/bin/sh', '-c'],
              args: [script],
              env,
              ...container,
            },
          ],
        },
      },
    },
  }
}

/** A script that prints lines, waits, and ends at once on SIGTERM. */
export const printAndWait = (lines: readonly string[]): string =>
  `trap 'exit 0' TERM; for line in ${lines.join(' ')}; do echo $line; done; while true; do sleep 0.1; done`

/** The cluster of the test run, with namespaces that are deleted at the end. */
export async function openTestCluster(options: ApiOptions = {}) {
  const { kubeconfig, namespacePrefix } = await startKubernetes()
  const cluster = await openCluster({ kubeconfig, log: silent, ...options })
  const admin = new Api(await openAccess(kubeconfig))
  const namespaces: string[] = []
  const directory = await mkdtemp(join(tmpdir(), 'crux-kubeconfig-'))
  const write = async (content: string) => {
    const path = join(directory, randomUUID())
    await writeFile(path, content)
    return path
  }
  /** @returns the path of a kubeconfig for the token of a service account */
  const writeKubeconfig = async (token: string) => {
    const { authorize, server } = await openAccess(kubeconfig)
    const ca = Buffer.from(String((await authorize()).ca)).toString('base64')
    return write(toKubeconfig({ server: server.href, 'certificate-authority-data': ca }, { token }))
  }
  const newNamespace = () => {
    const name = `${namespacePrefix}-${namespaces.length}`
    namespaces.push(name)
    return name
  }
  return {
    cluster,
    kubeconfig,
    admin,
    /** The name of a namespace that does not exist yet, and is deleted at the end. */
    newNamespace,
    async createNamespace(toLabels: (name: string) => Record<string, string> = () => ({})): Promise<string> {
      const name = newNamespace()
      await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: toLabels(name) } })
      return name
    },
    writeKubeconfig,
    /** The cluster for a service account. */
    openWithToken: async (token: string) => openCluster({ kubeconfig: await writeKubeconfig(token), log: silent }),
    /** A kubeconfig that reaches the API server through a proxy, which the test can cut. */
    async openProxy() {
      const original = await readFile(kubeconfig, 'utf8')
      const { server } = await openAccess(kubeconfig)
      const proxy = await openCuttableProxy(server.hostname, Number(server.port))
      const through = original.replaceAll(server.origin, `https://127.0.0.1:${proxy.port}`)
      return { ...proxy, kubeconfig: await write(through) }
    },
    async dispose() {
      for (const name of namespaces) await cluster.delete({ kind: 'Namespace', namespace: '', name })
      cluster.close()
      admin.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** JSON is YAML too. */
export function toKubeconfig(cluster: Record<string, unknown>, user: Record<string, unknown>): string {
  const name = 'test'
  return JSON.stringify({
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster }],
    users: [{ name, user }],
  })
}

export type TestCluster = Awaited<ReturnType<typeof openTestCluster>>

/** Forwards TCP connections until the test cuts them, or stops forwarding without closing anything. */
async function openCuttableProxy(host: string, target: number) {
  const sockets = new Set<Socket>()
  /** Connections from which nothing arrives any more. */
  const silenced = new WeakSet<Socket>()
  let isSilent = false
  const server = createServer((client) => {
    const upstream = connect(target, host)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    if (isSilent) silenced.add(client)
    client.on('data', (data) => silenced.has(client) || upstream.write(data))
    upstream.on('data', (data) => silenced.has(client) || client.write(data))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    /** Closes all connections and refuses new ones. */
    async cut() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      destroyAll()
      await closed
    },
    heal: () => listen(port),
    /** Connections stay open, and nothing arrives any more, also from new ones: as of a machine that was suspended. */
    silence() {
      isSilent = true
      for (const socket of sockets) silenced.add(socket)
    },
    /** New connections work again; those that were open stay silent. */
    endSilence() {
      isSilent = false
    },
  }
}
