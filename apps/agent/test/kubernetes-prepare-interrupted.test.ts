import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { agentStateRights, clusterRights, deploymentRights } from '@crux/rules'
import { kubernetesImage, kubernetesMissing } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest'
import { createAccount } from './kit/cluster-accounts.ts'
import { getPath } from './kit/cluster-objects.ts'
import { shell } from './kit/cluster-scripts.ts'
import { FakeServer } from './kit/fake-server.ts'
import { type Preparations, show, startPreparations } from './kit/preparations.ts'
import { makeRelease } from './kit/releases.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const storageId = '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e'
const listing =
  '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>file</Key><Size>4</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>'

describe.skipIf(missing)('a release whose files are being copied on Kubernetes', () => {
  let started: Preparations | undefined
  let storage: Server
  let isHeld: boolean
  let waiting: number
  let release: () => void
  beforeAll(async () => {
    started = await startPreparations()
  })
  afterAll(() => started?.dispose())
  beforeEach(async () => {
    isHeld = true
    waiting = 0
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    storage = createServer(async ({ url }, response) => {
      waiting += 1
      if (isHeld) await released
      if (url?.endsWith('/file'))
        response.writeHead(200, { 'content-length': 4, 'last-modified': new Date(0).toUTCString() })
      response.end(url?.endsWith('/file') ? 'slow' : listing)
    }).listen(0, '127.0.0.1')
    await once(storage, 'listening')
  })
  afterEach(() => {
    storage.closeAllConnections()
    storage.close()
  })
  /** A cluster that CRUX_TEST_KUBECONFIG names may be on another machine, from which nothing leads to this one. */
  const open = (context: TestContext): Preparations =>
    started ?? context.skip('the pods of this cluster reach no registry of this machine')

  const start = async ({ agent, reach }: Preparations, name: string) => {
    const address = storage.address()
    const url = `http://${await reach(typeof address === 'object' && address ? address.port : 0)}`
    const made = agent.release({
      instances: [
        {
          storage: { url, accessKey: '', secretKey: '' },
          config: {
            name,
            stopGracePeriodSeconds: 1,
            volumes: [{ name: 'files', path: '/files', type: 'rwo', size: '1Mi' }],
            storage: { storageId, bucket: 'b', path: 'files' },
            ...shell(show('/files')),
          },
        },
      ],
    })
    agent.server.deploy(made)
    await waitUntil('the pod asks the storage', () => waiting > 0, 30_000)
    return made
  }

  test('ends with a cancellation, and leaves nothing but the claim', async (context) => {
    const started = open(context)
    const { agent } = started
    const made = await start(started, 'cancelled')
    agent.server.send({ case: 'cancelDeployment', value: { release: made.key } })
    expect(await agent.server.getOutcome(made)).toMatchObject({ successful: false, cancelled: true })
    expect(await agent.get('Deployment', 'cancelled')).toBeUndefined()
    expect((await agent.list('Secret')).map(({ name }) => name)).toEqual([])
    expect((await agent.list('PersistentVolumeClaim')).map(({ name }) => name)).toContain('cancelled-files')
  })

  test('is continued by the next process of the agent', async (context) => {
    const started = open(context)
    const { agent, readFiles } = started
    const made = await start(started, 'continued')
    await agent.restartAgent()
    isHeld = false
    release()
    expect(await agent.server.getOutcome(made)).toMatchObject({ successful: true, reason: '' })
    expect(await readFiles('continued')).toEqual(['./file 664 slow'])
  })

  test('has the image of the agent whose pod deploys it', async (context) => {
    const { agent, agentImage, authorityFile, publish, reach } = open(context)
    const { image } = await publish('files', { '/conf/file': 'x' })
    const namespace = await agent.createNamespace()
    const account = await createAccount(agent, namespace, {
      cluster: [...clusterRights, ...deploymentRights],
      namespaces: { [namespace]: agentStateRights },
    })
    const server = new FakeServer()
    await server.start()
    const nodeId = randomUUID()
    const owner = { teamId: randomUUID(), projectId: randomUUID(), nodeId, prefix: agent.newNamespace() }
    server.scope = { teamId: owner.teamId, nodeId }
    const pod = {
      metadata: { name: 'crux-agent-1' },
      spec: {
        serviceAccountName: account.name,
        terminationGracePeriodSeconds: 5,
        securityContext: { runAsNonRoot: true, runAsUser: 65_532 },
        containers: [
          {
            name: 'agent',
            image: agentImage,
            imagePullPolicy: 'Never',
            env: Object.entries({
              CRUX_URL: `http://${await reach(server.port)}`,
              CRUX_INSECURE: 'true',
              CRUX_ENGINE: 'kubernetes',
              CRUX_NODE_ID: nodeId,
              CRUX_TOKEN: server.newInstallToken(),
              NODE_EXTRA_CA_CERTS: '/etc/crux/authority/ca.pem',
            }).map(([name, value]) => ({ name, value })),
            volumeMounts: [{ name: 'authority', mountPath: '/etc/crux/authority', readOnly: true }],
          },
        ],
        volumes: [{ name: 'authority', configMap: { name: 'authority' } }],
      },
    }
    const authority = { metadata: { name: 'authority' }, data: { 'ca.pem': await readFile(authorityFile, 'utf8') } }
    try {
      await agent.admin.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/configmaps`, body: authority })
      await agent.admin.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods`, body: pod })
      await server.waitForLink()
      const made = makeRelease({
        owner,
        instances: [
          {
            image: kubernetesImage,
            localOnly: true,
            config: {
              name: 'web',
              ...shell("trap 'exit 0' TERM; sleep 1000000 & wait"),
              stopGracePeriodSeconds: 1,
              volumes: [{ name: 'conf', path: '/conf', type: 'tmp' }],
              configContainer: { image, path: '/conf', keepFiles: false, volume: 'conf' },
            },
          },
        ],
      })
      // The agent asks the registry for the digest, and its pod copies the files: both trust the authority.
      expect(await server.deployAndWait(made)).toMatchObject({ successful: true, reason: '' })
      expect(server.toLines(made)).toContain('copied 1 files (1 bytes) into conf')
      const deployment = await agent.cluster.get({ kind: 'Deployment', namespace: owner.prefix, name: 'web' })
      expect(getPath(deployment, 'spec', 'template')).toMatchObject({
        spec: { initContainers: [{ image: agentImage, imagePullPolicy: 'Never' }] },
      })
    } finally {
      await server.stop()
      await account.deleteRights()
    }
  })
})
