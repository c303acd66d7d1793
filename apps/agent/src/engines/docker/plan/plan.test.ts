import { create } from '@bufbuild/protobuf'
import { type Release, ReleaseSchema } from '@crux/agent-protocol'
import { describe, expect, test } from 'vitest'
import { makeConfig } from '../../../../test/kit/releases.ts'
import { label, ownerLabels } from '../../labels.ts'
import type { ContainerSummary, ObservedContainer } from '../containers/container-engine.ts'
import { networkName } from '../containers/names.ts'
import { toDesiredInstance } from './container-spec.ts'
import { planRelease } from './plan.ts'
import { type ResolvedInstance, toStages } from './steps.ts'
import { configHash } from './transition.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'shop' }
const nodeEnvironment = { dataMountPath: '/data', seesHost: true, rootDomain: undefined }

type Wanted = Parameters<typeof makeConfig>[0] & { volumesOfImage?: string[] }

function makeCase(
  wanted: Wanted[],
  more: Partial<Pick<Release, 'recreate' | 'partial' | 'previous' | 'drainMs'>> = {},
) {
  const release = create(ReleaseSchema, {
    key: { deploymentId: 'd', number: 2 },
    owner,
    ...more,
    instances: wanted.map(({ volumesOfImage: _, ...config }) => ({
      instanceId: config.name,
      imageName: 'registry/app',
      imageTag: '1',
      configJson: JSON.stringify(makeConfig(config)),
    })),
  })
  const resolved = release.instances.map(
    (instance, index): ResolvedInstance => ({
      ...toDesiredInstance(release, instance, nodeEnvironment),
      digest: 'sha256:new',
      metadata: {
        id: 'image-new',
        repoDigests: [],
        volumes: wanted[index]?.volumesOfImage ?? [],
        hasHealthCheck: false,
        labels: {},
      },
      tagged: true,
      wasPulled: false,
      preparationImages: new Map(),
    }),
  )
  return { release, resolved }
}

function makeOld(name: string, more: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: `old-${name}`,
    name: `shop-${name}`,
    imageId: 'image-old',
    state: 'running',
    exitCode: 0,
    outOfMemory: false,
    restartCount: 0,
    health: 'none',
    healthOutput: '',
    restartPolicy: { name: 'unless-stopped' },
    published: [],
    gated: [],
    hostNetwork: false,
    mounts: [],
    networks: [{ name: networkName(owner), address: '10.0.0.2', aliases: [] }],
    ...more,
    labels: {
      ...ownerLabels(owner),
      [label.instance]: name,
      [label.name]: name,
      [label.deployment]: 'd',
      [label.release]: '1',
      ...more.labels,
    },
  }
}

const toSummary = (container: ObservedContainer): ContainerSummary => ({
  id: container.id,
  name: container.name,
  labels: container.labels,
  imageId: container.imageId,
  running: container.state === 'running',
  published: container.published,
  gated: container.gated,
  hostNetwork: container.hostNetwork,
})
const getPlan = (
  { release, resolved }: ReturnType<typeof makeCase>,
  owned: ObservedContainer[] = [],
  foreign: ContainerSummary[] = [],
) => planRelease(release, resolved, { owned, all: [...owned.map(toSummary), ...foreign] })
const modes = (plan: ReturnType<typeof getPlan>) => plan.instances.map(({ mode }) => mode)

describe('planRelease', () => {
  test('creates the first containers under their own names with the short name as alias', () => {
    const plan = getPlan(makeCase([{ name: 'db' }, { name: 'web' }]))
    expect(modes(plan)).toEqual(['first', 'first'])
    expect(plan.instances[1]).toMatchObject({
      createName: 'shop-web',
      aliases: ['web'],
      links: ['shop-db:db', 'shop-web:web'],
    })
    expect(plan.start.map(({ instanceId }) => instanceId)).toEqual(['db', 'web'])
    expect(plan.handover).toEqual([])
    expect(plan.cleanUp).toEqual([])
  })

  test('starts a container without any name beside a running one and hands the names over so that each always resolves', () => {
    const plan = getPlan(makeCase([{ name: 'web' }], { drainMs: 500 }), [makeOld('web'), makeOld('db')])
    expect(plan.instances[0]).toMatchObject({
      mode: 'beside',
      aliases: [],
      createName: expect.stringMatching(/^shop-web\.next-/),
    })
    expect(plan.start[0]?.steps.map(({ kind }) => kind)).toEqual(['container.start'])
    expect(plan.handover).toMatchObject([
      { kind: 'network.ensure', internal: true },
      { kind: 'network.join', target: { id: 'old-db' }, aliases: [] },
      { kind: 'network.join', target: { kind: 'new', instanceId: 'web' }, aliases: ['web', 'shop-web'] },
      { kind: 'container.rename', target: { id: 'old-web' }, from: 'shop-web' },
      { kind: 'container.rename', target: { instanceId: 'web' }, to: 'shop-web' },
    ])
    expect(plan.cleanUp).toMatchObject([
      { kind: 'drain', ms: 500 },
      { kind: 'previous.remove', id: 'old-web' },
    ])
  })

  test('runs old and new containers at once only where a client could be connected to the old one', () => {
    const kinds = (old: Partial<ObservedContainer>, others: ObservedContainer[] = [], wanted = [{ name: 'web' }]) =>
      getPlan(makeCase(wanted, { drainMs: 500 }), [makeOld('web', old), ...others]).cleanUp.map(({ kind }) => kind)
    expect(kinds({})).toEqual(['previous.remove'])
    expect(kinds({}, [makeOld('db', { state: 'exited' })])).toEqual(['previous.remove'])
    const drained = ['drain', 'previous.remove']
    expect(kinds({}, [makeOld('db')])).toEqual(drained)
    expect(kinds({}, [], [{ name: 'web' }, { name: 'db' }])).toEqual(drained)
    expect(kinds({ published: [{ hostPort: 0, protocol: 'tcp', address: '' }] })).toEqual(drained)
    expect(kinds({ labels: { VIRTUAL_HOST: 'shop.example.com' } })).toEqual(drained)
    expect(kinds({ networks: [...makeOld('web').networks, { name: 'team', address: '', aliases: [] }] })).toEqual(
      drained,
    )
  })

  test('hands the names of a container over by renames alone where no other container is on its network', () => {
    const kinds = (others: ObservedContainer[]) =>
      getPlan(makeCase([{ name: 'web' }]), [makeOld('web'), ...others]).handover.map(({ kind }) => kind)
    expect(kinds([])).toEqual(['container.rename', 'container.rename'])
    expect(kinds([makeOld('db', { networks: [] })])).toEqual(['container.rename', 'container.rename'])
    expect(kinds([makeOld('db', { state: 'exited' })])[0]).toBe('network.ensure')
  })

  test('renames all old containers before new ones take their names and each group in parallel', () => {
    const plan = getPlan(makeCase([{ name: 'web' }, { name: 'db' }]), [makeOld('web'), makeOld('db')])
    expect(
      toStages(plan.handover).map((stage) =>
        stage.map((step) => `${step.kind} ${'target' in step ? step.target.kind : ''}`),
      ),
    ).toEqual([
      ['network.ensure '],
      ['network.join new', 'network.join new'],
      ['container.rename previous', 'container.rename previous'],
      ['container.rename new', 'container.rename new'],
    ])
  })

  test('undoes in an order that releases what the new container holds before the old one returns', () => {
    const port = { internal: 80, external: 8080 }
    const plan = getPlan(makeCase([{ name: 'web', ports: [port] }]), [
      makeOld('web', { published: [{ hostPort: 8080, protocol: 'tcp', address: '' }] }),
    ])
    expect(plan.undo.map((group) => group.map(({ kind }) => kind))).toEqual([
      ['new.discard'],
      ['container.rename'],
      ['previous.restore'],
    ])
  })

  const published = [{ hostPort: 8080, protocol: 'tcp' as const, address: '' }]
  const pauses: [string, Wanted, Partial<ObservedContainer>, string][] = [
    [
      'a port of the host',
      { name: 'web', ports: [{ internal: 80, external: 8080 }] },
      { published },
      'both publish port 8080',
    ],
    [
      'a volume that the new one writes',
      { name: 'web', volumes: [{ name: 'data', path: '/d' }] },
      { mounts: [{ source: '/data/shop/web/data', target: '/d', writable: false }] },
      'both use the volume at /d',
    ],
    [
      'a directory above the volume',
      { name: 'web', volumes: [{ name: 'data', path: '/d' }] },
      { mounts: [{ source: '/data/shop/web', target: '/x', writable: true }] },
      'both use the volume',
    ],
    [
      'a VOLUME of the image that nothing mounts',
      { name: 'web', volumesOfImage: ['/var/lib'] },
      {},
      'the image keeps data in /var/lib',
    ],
    [
      'a route without a health check',
      { name: 'web' },
      { labels: { 'traefik.enable': 'true' } },
      'it is routed and has no health check',
    ],
    [
      'a route that changes',
      { name: 'web' },
      { labels: { 'traefik.enable': 'true' }, health: 'healthy' },
      'its routing changes',
    ],
  ]
  test.each(pauses)('stops the old container first because of %s and reports the reason', (_, wanted, old, reason) => {
    const plan = getPlan(makeCase([wanted]), [makeOld('web', old)])
    expect(modes(plan)).toEqual(['after'])
    expect(plan.instances[0]?.reasons.join()).toContain(reason)
    expect(plan.start[0]?.steps.map(({ kind }) => kind)).toEqual(['previous.stop', 'container.start'])
  })

  test('runs both containers where the new one only reads or another address of the port is used', () => {
    const reads = makeCase([{ name: 'web', volumes: [{ name: 'data', path: '/d', type: 'ro' }] }])
    expect(
      modes(
        getPlan(reads, [makeOld('web', { mounts: [{ source: '/data/shop/web/data', target: '/d', writable: true }] })]),
      ),
    ).toEqual(['beside'])
    const other = makeCase([{ name: 'web', ports: [{ internal: 80, external: 8080, bindAddress: '127.0.0.1' }] }])
    expect(
      modes(
        getPlan(other, [makeOld('web', { published: [{ hostPort: 8080, protocol: 'tcp', address: '10.0.0.1' }] })]),
      ),
    ).toEqual(['beside'])
  })

  test('keeps a container with the same image and configuration in its expected state', () => {
    const wanted = makeCase([{ name: 'web' }])
    const hash = configHash('sha256:new', makeConfig({ name: 'web' }))
    const same = (more: Partial<ObservedContainer> = {}) =>
      makeOld('web', { imageId: 'image-new', labels: { [label.configHash]: hash }, ...more })
    expect(modes(getPlan(wanted, [same()]))).toEqual(['keep'])
    expect(modes(getPlan(wanted, [same({ state: 'exited' })]))).toEqual(['after'])
    expect(modes(getPlan(wanted, [same({ health: 'unhealthy' })]))).toEqual(['beside'])
    expect(modes(getPlan(wanted, [same({ networks: [] })]))).toEqual(['beside'])
    expect(modes(getPlan(makeCase([{ name: 'web' }], { recreate: true }), [same()]))).toEqual(['beside'])
  })

  test('stops both containers where two services exchange their ports', () => {
    const wanted = makeCase([
      { name: 'a', ports: [{ internal: 80, external: 2 }] },
      { name: 'b', ports: [{ internal: 80, external: 1 }] },
    ])
    const plan = getPlan(wanted, [
      makeOld('a', { published: [{ hostPort: 1, protocol: 'tcp', address: '' }] }),
      makeOld('b', { published: [{ hostPort: 2, protocol: 'tcp', address: '' }] }),
    ])
    expect(modes(plan)).toEqual(['after', 'after'])
    const stopped = plan.start[0]?.steps.flatMap((step) => (step.kind === 'previous.stop' ? [step.id] : []))
    expect(stopped?.toSorted()).toEqual(['old-a', 'old-b'])
  })

  test('removes only containers that records of previous releases name and none in a partial release', () => {
    const previous = [
      { $typeName: 'crux.agent.v1.PreviousContainer' as const, containerName: 'shop-gone', instanceId: 'gone' },
    ]
    const owned = [makeOld('gone'), makeOld('unrecorded')]
    expect(getPlan(makeCase([{ name: 'web' }], { previous }), owned).cleanUp).toMatchObject([
      { kind: 'previous.remove', id: 'old-gone', instanceId: '' },
    ])
    expect(getPlan(makeCase([{ name: 'web' }], { previous, partial: true }), owned).cleanUp).toEqual([])
  })

  test('takes over an instance under its previous name', () => {
    const previous = [
      { $typeName: 'crux.agent.v1.PreviousContainer' as const, containerName: 'shop-web', instanceId: 'site' },
    ]
    const plan = getPlan(makeCase([{ name: 'site' }], { previous }), [makeOld('web')])
    expect(plan.instances[0]).toMatchObject({ mode: 'beside', createName: 'shop-site', previous: { id: 'old-web' } })
    expect(plan.cleanUp).toMatchObject([{ kind: 'previous.remove', id: 'old-web' }])
  })

  test('leaves a container alone that another instance has taken over with its name', () => {
    const previous = [
      { $typeName: 'crux.agent.v1.PreviousContainer' as const, containerName: 'shop-web', instanceId: 'site' },
    ]
    const made = makeCase([{ name: 'site' }, { name: 'web' }], { previous })
    const [, web] = made.resolved
    const running = makeOld('web', {
      imageId: 'image-new',
      labels: { [label.configHash]: configHash('sha256:new', web?.config ?? makeConfig({ name: '' })) },
    })
    const plan = getPlan(made, [running])
    expect(modes(plan)).toEqual(['first', 'keep'])
    expect(plan.cleanUp).toEqual([])
    const changed = getPlan(made, [makeOld('web')])
    expect(modes(changed)).toEqual(['first', 'beside'])
    expect(changed.cleanUp).toHaveLength(1)
  })

  test("refuses a name or port of another owner and names a holder only if it is the team's", () => {
    const foreign: ContainerSummary = {
      id: 'x',
      name: 'shop-web',
      labels: { [label.project]: 'other' },
      imageId: '',
      running: true,
      published: [],
      gated: [],
      hostNetwork: false,
    }
    expect(() => getPlan(makeCase([{ name: 'web' }]), [], [foreign])).toThrow('the container shop-web exists already')
    const holder = { ...foreign, name: 'ops-nginx', published }
    const made = makeCase([{ name: 'web', ports: [{ internal: 80, external: 8080 }] }])
    expect(() => getPlan(made, [], [holder])).toThrow(
      "port 8080 is taken by a container that is not this team's: choose another port or stop it",
    )
    const ofTheTeam = { ...holder, labels: { ...ownerLabels(owner), [label.project]: 'other' } }
    expect(() => getPlan(made, [], [ofTheTeam])).toThrow(
      'port 8080 is taken by ops-nginx: choose another port or stop it',
    )
  })

  test('does not treat its own container of an earlier attempt as a previous one', () => {
    const plan = getPlan(makeCase([{ name: 'web' }]), [makeOld('web', { labels: { [label.release]: '2' } })])
    expect(modes(plan)).toEqual(['first'])
    expect(plan.cleanUp).toEqual([])
  })
})
