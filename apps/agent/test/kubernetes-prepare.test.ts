import { randomUUID } from 'node:crypto'
import { ObjectDifferenceType, type Release } from '@crux/agent-protocol'
import { idle, kubernetesMissing, registryAccount, storageAccount, storageMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { getPath } from './kit/cluster-objects.ts'
import { shell } from './kit/cluster-scripts.ts'
import { type Preparations, readLog, show, startPreparations } from './kit/preparations.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const storageId = '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e'

describe.skipIf(missing)('files that are copied into volumes on Kubernetes', () => {
  let started: Preparations | undefined
  beforeAll(async () => {
    started = await startPreparations()
  })
  afterAll(() => started?.dispose())

  /** A cluster that CRUX_TEST_KUBECONFIG names may be on another machine, from which nothing leads to this one. */
  const open = (context: TestContext): Preparations =>
    started ?? context.skip('the pods of this cluster reach no registry of this machine')
  /** The storage server is built from its published source, which needs Go; without it, its tests are counted as skipped. */
  const openStorage = (context: TestContext) => open(context).storage ?? context.skip(`it ${storageMissing()}`)

  test('come from the layers of an image, and replace what was there', async (context) => {
    const { agent, publish, readFiles, succeed } = open(context)
    const first = await publish('files', { '/etc/app/one': 'one', '/etc/app/sub/two': 'two', '/etc/other': 'x' })
    const volumes = [{ name: 'conf', path: '/conf', type: 'rwo' as const, size: '1Mi' }]
    const toConfig = (image: string, keepFiles: boolean) => ({
      name: 'web',
      volumes,
      ...shell(`touch /conf/own; ${show('/conf')}`),
      configContainer: { image, path: '/etc/app', keepFiles, volume: 'conf' },
    })
    const deploymentId = randomUUID()
    const release = await succeed(toConfig(first.image, false), first.pinned, { deploymentId, number: 1 })
    expect(await readFiles('web')).toEqual(['./one 775 one', './own 644 ', './sub/two 775 two'])
    expect(agent.server.toLines(release)).toContain('copied 2 files (6 bytes) into conf')
    // The nodes alone have the image of the container; a rollback needs the digest of the other one.
    const resolved = (release.key ? agent.server.listEvents(release.key) : []).flatMap(({ event }) =>
      event.case === 'resolved' ? [[event.value.digest, event.value.preparationDigests]] : [],
    )
    expect(resolved).toEqual([['', first.pinned.preparationDigests]])

    const second = await publish('files', { '/etc/app/one': 'changed' })
    await succeed(toConfig(second.image, true), second.pinned, { deploymentId, number: 2 })
    expect(await readFiles('web')).toEqual(['./one 775 changed', './own 644 ', './sub/two 775 two'])
    await succeed({ ...toConfig(second.image, false), ...shell(show('/conf')) }, second.pinned, {
      deploymentId,
      number: 3,
    })
    expect(await readFiles('web')).toEqual(['./one 775 changed'])

    await succeed(toConfig(first.image, false), first.pinned, { deploymentId, number: 4 })
    expect(await readFiles('web')).toEqual(['./one 775 one', './own 644 ', './sub/two 775 two'])
    const secrets = (await agent.list('Secret')).filter(({ name }) => name.startsWith('web-prepare-'))
    const template = JSON.stringify(getPath(await agent.get('Deployment', 'web'), 'spec', 'template'))
    expect(secrets.some(({ name }) => template.includes(name))).toBe(true)
  })

  test('of a rollback are those of its own release, and its Secret is there again', async (context) => {
    const { deploy, publish, readFiles, succeed } = open(context)
    const name = 'back'
    const volumes = [{ name: 'conf', path: '/conf', type: 'rwx' as const, size: '1Mi' }]
    const images = [await publish('old', { '/conf/who': 'old' }), await publish('new', { '/conf/who': 'new' })]
    const deploymentId = randomUUID()
    const toConfig = (image: string) => ({
      name,
      volumes,
      ...shell(show('/conf')),
      configContainer: { image, path: '/conf', keepFiles: false, volume: 'conf' },
    })
    for (const [number, index] of [0, 1, 0].entries()) {
      const { image = '', pinned } = images[index] ?? {}
      await succeed(toConfig(image), pinned, { deploymentId, number: number + 1 })
      expect(await readFiles(name)).toEqual([`./who 775 ${['old', 'new'][index]}`])
    }
    // A release that fails leaves the volume to the previous one, whose pods start again.
    const broken = { ...toConfig(images[1]?.image ?? ''), ...shell('exit 3') }
    const { outcome } = await deploy(broken, images[1]?.pinned, { deploymentId, number: 4 })
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    expect(await readFiles(name)).toEqual(['./who 775 old'])
  })

  test('are written once for each release, by one of its pods', async (context) => {
    const { agent, publish, succeed } = open(context)
    const name = 'many'
    const { image, pinned } = await publish('shared', { '/conf/file': 'content' })
    const config = {
      name,
      replicas: 3,
      volumes: [{ name: 'conf', path: '/conf', type: 'rwx' as const, size: '1Mi' }],
      ...shell(show('/conf')),
      configContainer: { image, path: '/conf', keepFiles: false, volume: 'conf' },
    }
    const release = await succeed(config, pinned)
    expect(
      agent.server
        .toLines(release)
        .filter((line) => line.includes('conf'))
        .sort(),
    ).toEqual(['copied 1 files (7 bytes) into conf', 'the files in conf are those of this release already'])
    const [pod] = (await agent.pods()).filter(({ labels }) => labels['dev.crux.name'] === name)
    const path = `/api/v1/namespaces/${agent.owner.prefix}/pods/${pod?.name}`
    await agent.admin.json({ method: 'DELETE', path })
    const [message] = await waitUntil('another pod has taken its place', async () => {
      const newer = (await agent.pods()).filter(
        ({ createdAt, labels }) => labels['dev.crux.name'] === name && createdAt > (pod?.createdAt ?? 0),
      )
      const text = newer.map((one) => JSON.stringify(one.fields.status)).join()
      return text.includes('of this release already') && [text]
    })
    expect(message).not.toContain('copied')
  })

  test('are there for a Job, of which each release runs another one', async (context) => {
    const { agent, deploy, publish } = open(context)
    const deploymentId = randomUUID()
    const instanceId = randomUUID()
    const previous = [{ containerName: `${agent.owner.prefix}-once`, instanceId }]
    const deployNext = async (number: number, content: string, path?: string) => {
      const { image, pinned } = await publish('files', { '/conf/file': content })
      const rest = { deploymentId, number, previous: number === 1 ? [] : previous }
      return deploy(toConfig(image, path), { ...pinned, instanceId }, rest)
    }
    const toConfig = (image: string, path = '/conf') => ({
      name: 'once',
      volumes: [{ name: 'conf', path: '/conf', type: 'tmp' as const }],
      expectedState: { state: 'exited' as const, exitCode: 0 },
      ...shell('cat /conf/file'),
      configContainer: { image, path, keepFiles: false, volume: 'conf' },
    })
    const jobs = async () =>
      (await agent.list('Job')).filter(({ deletedAt, name }) => !deletedAt && name.startsWith('once-'))
    for (const [number, content] of ['first', 'second'].entries()) {
      const { outcome, release } = await deployNext(number + 1, content)
      expect(outcome).toMatchObject({ successful: true, reason: '' })
      expect(agent.server.toLines(release)).toContain(`copied 1 files (${content.length} bytes) into conf`)
      const [job, ...others] = await jobs()
      expect(others).toEqual([])
      const [pod] = (await agent.list('Pod')).filter(({ owners }) => owners.some(({ uid }) => uid === job?.uid))
      expect(pod && (await readLog(agent, pod, 'once'))).toEqual([content])
    }
    const { outcome } = await deployNext(3, 'third', '/missing')
    expect(outcome.successful).toBe(false)
    expect(outcome.reason).toMatch(/^the files of the volumes cannot be prepared: conf: the image .* has no \/missing$/)
    expect((await jobs()).map(({ name }) => name)).toEqual([expect.stringMatching(/^once-2-[0-9a-f]{8}$/)])
    expect((await agent.list('Secret')).filter(({ name }) => name.startsWith('once-'))).toHaveLength(1)
  })

  test('mirror a prefix of a bucket, and fetch what has changed with the next release', async (context) => {
    const storage = openStorage(context)
    const { agent, readFiles, succeed } = open(context)
    await storage.createBucket('assets')
    await storage.put('assets', 'site/index.html', 'hello')
    await storage.put('assets', 'site/sub/page', 'page')
    await storage.put('assets', 'other/secret', 'not this')
    const deploymentId = randomUUID()
    const deployNext = (number: number) =>
      succeed(
        {
          name: 'site',
          user: 1_000,
          volumes: [{ name: 'files', path: '/files', type: 'rwo', size: '1Mi' }],
          storage: { storageId, bucket: 'assets/site', path: 'files' },
          ...shell(`touch /files/own; ${show('/files')}`),
        },
        { storage: { url: storage.podUrl, ...storageAccount } },
        { deploymentId, number, recreate: true },
      )
    const lines = async (release: Release) =>
      agent.server.toLines(release).filter((line) => line.startsWith('imported'))
    expect(await lines(await deployNext(1))).toEqual([
      'imported 2 files (9 bytes) into files, 0 were there already, 0 removed',
    ])
    expect(await readFiles('site')).toEqual(['./index.html 664 hello', './own 644 ', './sub/page 664 page'])
    await storage.put('assets', 'site/index.html', 'changed')
    await storage.remove('assets', 'site/sub/page')
    expect(await lines(await deployNext(2))).toEqual([
      'imported 1 files (7 bytes) into files, 0 were there already, 2 removed',
    ])
    expect(await readFiles('site')).toEqual(['./index.html 664 changed', './own 644 '])
  })

  test('are read with the credentials of the registry of the container', async (context) => {
    const { authorityFile, closed, closedHost, machine, readFiles, succeed } = open(context)
    await machine.trustRegistry(closedHost, authorityFile)
    const digest = await closed.push('private', '1', { ...idle(), files: { '/conf/file': 'private' } })
    const image = `${closedHost}/private:1`
    const auth = { serverAddress: closedHost, username: registryAccount.user, password: registryAccount.token }
    await succeed(
      {
        name: 'private',
        volumes: [{ name: 'conf', path: '/data', type: 'mem' }],
        configContainer: { image, path: '/conf', keepFiles: false, volume: 'conf' },
        ...shell(
          'trap \'exit 0\' TERM; cd /data; for f in *; do echo "./$f $(cat $f)"; done; echo end; sleep 100000 & wait',
        ),
      },
      { image, digest, auth, preparationDigests: { [image]: digest } },
    )
    expect(await readFiles('private')).toEqual(['./file private'])
  })

  test('are in a Secret and a container that no other part of the pod has', async (context) => {
    const { agent, agentImage, publish, readFiles, succeed } = open(context)
    const { image, pinned } = await publish('files', { '/etc/app/one': 'one' })
    await succeed(
      {
        name: 'closed',
        volumes: [{ name: 'conf', path: '/conf', type: 'tmp' }],
        ...shell(`id -u; ls /crux 2>&1; cat /proc/1/mounts | grep crux; ${show('/conf')}`),
        configContainer: { image, path: '/etc/app', keepFiles: false, volume: 'conf' },
      },
      pinned,
    )
    const output = await readFiles('closed')
    expect(output).toEqual(['0', 'ls: /crux: No such file or directory', './one 775 one'])
    const template = getPath(await agent.get('Deployment', 'closed'), 'spec', 'template')
    expect(template).toMatchObject({
      spec: {
        automountServiceAccountToken: false,
        containers: [{ volumeMounts: [{ name: 'volume-0' }] }],
        initContainers: [
          {
            name: 'crux-prepare',
            image: agentImage,
            volumeMounts: [{ name: 'volume-0' }, { name: 'crux-order', readOnly: true }],
            securityContext: {
              runAsNonRoot: true,
              runAsUser: 65_532,
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
              seccompProfile: { type: 'RuntimeDefault' },
            },
          },
        ],
      },
    })
    await agent.server.ask({
      case: 'deleteContainers',
      value: { container: { prefix: agent.owner.prefix, name: 'closed' } },
    })
    expect((await agent.list('Secret')).filter(({ name }) => name.startsWith('closed-'))).toEqual([])
  })

  test('are no drift without the credentials, and a change beside them is', async (context) => {
    const { agent, publish, readFiles, succeed } = open(context)
    const { image, pinned } = await publish('files', { '/etc/app/one': 'one' })
    const config = {
      name: 'drift',
      volumes: [{ name: 'conf', path: '/conf', type: 'rwo' as const, size: '1Mi' }],
      environment: [{ key: 'VALUE', value: 'wanted' }],
      ...shell(show('/conf')),
      configContainer: { image, path: '/etc/app', keepFiles: false, volume: 'conf' },
    }
    await succeed(config, pinned)
    // The container stays as it is, with the name of the first release in it.
    const release = await succeed(config, pinned)
    expect(await readFiles('drift')).toEqual(['./one 775 one'])
    // As the server asks: with the digests of the release, and without what it needs for registries and storages.
    const ask = async () => {
      const answer = await agent.server.ask({ case: 'findDrift', value: { release } })
      if (answer.case !== 'drift') throw new Error(`${answer.case}: ${JSON.stringify(answer.value)}`)
      // Containers of the other tests belong to other deployments of the same owner.
      return answer.value.objects.filter(({ name }) => name.startsWith('drift'))
    }
    expect(await ask()).toEqual([])
    const path = `/apis/apps/v1/namespaces/${agent.owner.prefix}/deployments/drift`
    await agent.admin.json({
      method: 'PATCH',
      path,
      query: { fieldManager: 'kubectl-edit' },
      contentType: 'application/strategic-merge-patch+json',
      body: { spec: { template: { spec: { terminationGracePeriodSeconds: 7 } } } },
    })
    expect(await ask()).toMatchObject([
      { kind: 'Deployment', name: 'drift', fields: [{ path: 'spec.template.spec.terminationGracePeriodSeconds' }] },
    ])
    const template = getPath(await agent.get('Deployment', 'drift'), 'spec', 'template')
    const [secret = ''] = /drift-prepare-[0-9a-f]+/.exec(JSON.stringify(template)) ?? []
    await agent.cluster.delete({ kind: 'Secret', namespace: agent.owner.prefix, name: secret })
    expect(await ask()).toMatchObject([
      { kind: 'Deployment' },
      { kind: 'Secret', name: secret, type: ObjectDifferenceType.MISSING },
    ])
  })
})
