import { describe, expect, test } from 'vitest'
import { makeRelease } from '../../../../test/kit/releases.ts'
import { PreparationOrder } from '../../../prepare/order.ts'
import { listConfigRefs } from '../cluster/config-refs.ts'
import { toDesiredWorkload } from './desired-workload.ts'
import { toManifests, type WorkloadParts } from './manifests.ts'
import { pullSeconds } from './workload.ts'

const digest = `sha256:${'a'.repeat(64)}`
const image = 'registry.example.com/files:1'
const auth = { serverAddress: 'registry.example.com', username: 'user', password: 'not-the-token' }
const storage = { url: 'https://s3.example.com', accessKey: 'key', secretKey: 'not-the-secret' }
const agentImage = { image: 'crux/agent:1', pullPolicy: 'Never' }
const storageId = '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e'
const volumes = [
  { name: 'other', path: '/other' },
  { name: 'conf', path: '/conf', type: 'rwx' as const },
]
const configContainer = { image, path: '/etc/app/', keepFiles: true, volume: 'conf' }

interface Given {
  number?: number
  imageName?: string
  preparation?: Partial<WorkloadParts['preparation']>
  isLocal?: boolean
}

function plan(
  config: object,
  { imageName = 'registry.example.com/app:1', isLocal, number = 1, preparation }: Given = {},
) {
  const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'demo' }
  const release = makeRelease({
    owner,
    number,
    deploymentId: 'deployment',
    instances: [{ instanceId: 'instance', image: imageName, config: { name: 'web', volumes, ...config } }],
  })
  const [instance] = release.instances
  if (!instance) throw new Error('the release has an instance')
  return toManifests(toDesiredWorkload(release, instance, {}), {
    release,
    digest: isLocal ? undefined : digest,
    secrets: {},
    auth,
    preparationDigests: isLocal ? {} : { [image]: digest },
    preparation: { agentImage, authority: undefined, storage, ...preparation },
  })
}

type Planned = ReturnType<typeof plan>

const readOrder = ({ preparationSecret }: Planned) => {
  const data = preparationSecret?.data as Record<string, string>
  return PreparationOrder.parse(JSON.parse(Buffer.from(data['order.json'] ?? '', 'base64').toString('utf8')))
}
const getPod = ({ workload }: Planned) =>
  (workload.spec as { template: { spec: { initContainers: Record<string, unknown>[]; securityContext: object } } })
    .template.spec

describe('a preparation', () => {
  test('is the first init container, with an order for its volumes alone', () => {
    const init = { name: 'init', image, useParentConfig: true }
    const manifests = plan({
      configContainer,
      storage: { storageId, bucket: 'assets/site', path: 'conf' },
      initContainers: [init],
      secrets: [],
    })
    expect(readOrder(manifests)).toEqual({
      volumes: [
        {
          name: 'conf',
          directory: '/crux/volumes/1',
          sources: [
            { kind: 'image', name: 'registry.example.com/files', digest, path: '/etc/app/', keepFiles: true, auth },
            { kind: 'bucket', ...storage, bucket: 'assets', prefix: 'site/' },
          ],
        },
      ],
    })
    expect(getPod(manifests).initContainers).toMatchObject([
      {
        name: 'crux-prepare',
        image: 'crux/agent:1',
        imagePullPolicy: 'Never',
        volumeMounts: [
          { name: 'volume-1', mountPath: '/crux/volumes/1' },
          { name: 'crux-order', mountPath: '/crux/order', readOnly: true },
        ],
      },
      { name: 'init' },
    ])
    expect(JSON.stringify(manifests.workload)).not.toContain('not-the')
    const name = manifests.preparationSecret?.metadata.name ?? ''
    expect(name).toMatch(/^web-prepare-[0-9a-f]{10}$/)
    expect(listConfigRefs({ fields: manifests.workload })).toContainEqual({ kind: 'Secret', name })
  })

  test('is none where the configuration asks for no files', () => {
    const manifests = plan({ storage: { storageId: null, bucket: 'b', path: 'conf' } })
    expect(manifests.preparationSecret).toBeUndefined()
    expect(JSON.stringify(manifests.workload)).not.toContain('crux-prepare')
  })

  test('has credentials of the registry of the container alone', () => {
    const sources = (imageName: string) => readOrder(plan({ configContainer }, { imageName })).volumes[0]?.sources[0]
    expect(sources('registry.example.com/app:1')).toHaveProperty('auth')
    expect(sources('other.example.com/app:1')).not.toHaveProperty('auth')
  })

  test('keeps the name of its Secret and the hash of the container in every release', () => {
    const [first, second] = [1, 2].map((number) => plan({ configContainer }, { number }))
    expect(second?.preparationSecret?.metadata.name).toBe(first?.preparationSecret?.metadata.name)
    const hash = (one: Planned | undefined) => one?.workload.metadata.annotations?.['dev.crux.config-hash']
    expect(hash(second)).toBe(hash(first))
    const env = (one: Planned | undefined) => one && getPod(one).initContainers[0]?.env
    expect([env(first), env(second)]).toEqual([
      [{ name: 'CRUX_RELEASE', value: 'deployment/1' }],
      [{ name: 'CRUX_RELEASE', value: 'deployment/2' }],
    ])
  })

  test('runs as the user of the container, whose group may write to the volumes, and never as root', () => {
    const of = (user: number | undefined) => {
      const pod = getPod(plan({ configContainer, ...(user !== undefined && { user }) }))
      return [pod.securityContext, pod.initContainers[0]?.securityContext]
    }
    const as = (id: number) => [
      { fsGroup: id, fsGroupChangePolicy: 'Always' },
      { runAsNonRoot: true, runAsUser: id, runAsGroup: id, readOnlyRootFilesystem: true },
    ]
    expect(of(1_000)).toMatchObject(as(1_000))
    for (const user of [undefined, 0, -1]) expect(of(user)).toMatchObject(as(65_532))
  })

  test('has more time, and replaces the pods at once where they share what it writes', () => {
    const spec = (config: object) => plan(config).workload.spec as { progressDeadlineSeconds: number; strategy: object }
    const shared = { volumes: [{ name: 'conf', path: '/conf', type: 'rwx' }] }
    const plain = spec(shared)
    const prepared = spec({ ...shared, configContainer })
    expect(prepared.progressDeadlineSeconds - plain.progressDeadlineSeconds).toBe(600)
    expect([plain.strategy, prepared.strategy]).toMatchObject([{ type: 'RollingUpdate' }, { type: 'Recreate' }])
    const own = { volumes: [{ name: 'conf', path: '/conf', type: 'tmp' }], configContainer }
    expect(spec(own).strategy).toMatchObject({ type: 'RollingUpdate' })
    const job = plan({ ...shared, configContainer, expectedState: { state: 'exited', timeout: 5 } }).workload
    expect(job.spec).toMatchObject({ activeDeadlineSeconds: 605 + pullSeconds })
  })

  test('has the memory of the volumes in memory that it fills, as far as every member may have it', () => {
    const limit = (type: string, size?: string) => {
      const of = { volumes: [{ name: 'conf', path: '/conf', type, ...(size && { size }) }], configContainer }
      const resourceConfig = { limits: { memory: '64Mi' } }
      return getPod(plan({ ...of, resourceConfig })).initContainers[0]?.resources
    }
    const toLimit = (mebibytes: number) => ({ limits: { memory: String(mebibytes * 1_024 ** 2) } })
    expect(limit('tmp', '2Gi')).toMatchObject(toLimit(512))
    expect(limit('mem', '512Mi')).toMatchObject(toLimit(512 + 512))
    expect(limit('mem', '100Gi')).toMatchObject(toLimit(512 + 1_024))
    expect(limit('mem')).toMatchObject(toLimit(512 + 64))
  })

  test('leaves its Secret out of a comparison, to which nobody gives credentials', () => {
    const config = { configContainer, storage: { storageId, bucket: 'assets', path: 'conf' } }
    const manifests = plan(config, { preparation: { storage: 'unknown' } })
    expect(manifests.preparationSecret).toBeUndefined()
    expect(JSON.stringify(manifests.workload)).not.toContain('crux-order')
    expect(getPod(manifests).initContainers).toMatchObject([{ name: 'crux-prepare' }])
  })

  test('trusts the authority that the agent trusts', () => {
    expect(readOrder(plan({ configContainer }, { preparation: { authority: 'PEM' } })).authority).toBe('PEM')
  })

  test('that can only fail is refused', () => {
    const refused = (config: object, given: Given = {}) => expect(() => plan(config, given))
    refused({ configContainer: { ...configContainer, volume: 'none' } }).toThrow('which is none of this container')
    refused({ storage: { storageId, bucket: 'b', path: 'none' } }).toThrow('which is none of this container')
    refused({ configContainer: { ...configContainer, image: 'other:1' } }).toThrow('the digest of other:1 is not known')
    for (const registry of ['localhost:5000', '127.0.0.1:5000'])
      refused({ configContainer: { ...configContainer, image: `${registry}/a@${digest}` } }).toThrow(
        'configContainer.image: On a cluster',
      )
    refused({ configContainer }, { isLocal: true }).toThrow('is an image that only the nodes have')
    refused({ storage: { storageId, bucket: 'b', path: 'conf' } }, { preparation: { storage: undefined } }).toThrow(
      'the release does not say where the storage is: start it again',
    )
    refused({ configContainer }, { preparation: { agentImage: undefined } }).toThrow('image of the agent is not known')
    refused({ configContainer, name: 'crux-prepare' }).toThrow('name: The name crux-prepare is kept for')
    const initContainers = [{ name: 'crux-prepare', image, useParentConfig: false }]
    refused({ initContainers }).toThrow('initContainers[0].name: The name crux-prepare is kept for')
  })
})
