import { create } from '@bufbuild/protobuf'
import { ReleaseSchema } from '@crux/agent-protocol'
import type { FinalContainerConfig } from '@crux/contract'
import { validateConfig, validateRelease } from '@crux/rules'
import { arbitraryConfig } from '@crux/rules/arbitrary-config'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlanError } from '../../../errors.ts'
import { checkRelease } from '../../check-release.ts'
import { label, ownerLabels } from '../../labels.ts'
import type { ObservedContainer } from '../containers/container-engine.ts'
import { networkName } from '../containers/names.ts'
import { toDesiredInstance } from './container-spec.ts'
import { planRelease } from './plan.ts'

const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_122)
const total = process.env.CRUX_TEST_FULL === '1' ? 10_000 : 300
const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'shop' }
const nodeEnvironment = { dataMountPath: '/data', seesHost: true, rootDomain: 'example.com' }

/** The container that an earlier release left of an instance, in any state. */
const previous = fc.record({
  state: fc.constantFrom('created', 'running', 'paused', 'restarting', 'exited', 'dead'),
  health: fc.constantFrom('none', 'starting', 'healthy', 'unhealthy'),
  hostNetwork: fc.boolean(),
  port: fc.option(fc.integer({ min: 1, max: 65_535 })),
  volumes: fc.array(fc.constantFrom('/data/shop/web/data', '/data/shop', '/etc'), { maxLength: 2 }),
})

test(`planRelease plans each of ${total} random valid configurations with every field, or refuses it with a message`, () => {
  const planned: FinalContainerConfig[] = []
  fc.assert(
    fc.property(arbitraryConfig(), fc.option(previous), (config, old) => {
      const isValid =
        validateConfig(config, { whole: true, nodeType: 'docker' }).length === 0 &&
        validateRelease(owner.prefix, [{ config }]).length === 0
      const release = create(ReleaseSchema, {
        key: { deploymentId: 'd', number: 2 },
        owner,
        hostDangerousAllowed: true,
        instances: [
          {
            instanceId: 'one',
            imageName: 'registry/app',
            imageTag: '1',
            storage: { url: 'https://s3.example.com' },
            configJson: JSON.stringify(config),
          },
        ],
      })
      const owned: ObservedContainer[] = old
        ? [
            {
              id: 'old',
              name: `shop-${config.name}`,
              imageId: 'image-old',
              state: old.state as ObservedContainer['state'],
              exitCode: 0,
              outOfMemory: false,
              restartCount: 0,

              health: old.health as ObservedContainer['health'],
              healthOutput: '',
              restartPolicy: { name: 'unless-stopped' },
              published: old.port ? [{ hostPort: old.port, protocol: 'tcp', address: '' }] : [],
              gated: [],
              hostNetwork: old.hostNetwork,
              mounts: old.volumes.map((source) => ({ source, target: source, writable: true })),
              networks: [{ name: networkName(owner), address: '10.0.0.2', aliases: [] }],
              labels: { ...ownerLabels(owner), [label.instance]: 'one', [label.deployment]: 'd', [label.release]: '1' },
            },
          ]
        : []
      try {
        checkRelease(release)
        const resolved = release.instances.map((instance) => ({
          ...toDesiredInstance(release, instance, nodeEnvironment),
          digest: 'sha256:new',
          metadata: { id: 'image-new', repoDigests: [], volumes: [], hasHealthCheck: false, user: '', labels: {} },
          tagged: true,
          wasPulled: false,
          preparationImages: new Map(),
        }))
        const all = owned.map(({ state, ...container }) => ({ ...container, running: state === 'running' }))
        const plan = planRelease(release, resolved, { owned, all })
        expect(plan.instances).toHaveLength(1)
        expect(plan.start.flatMap(({ steps }) => steps.at(-1))).toMatchObject([{ kind: 'container.start' }])
        planned.push(config)
      } catch (error) {
        if (!(error instanceof PlanError) || error.message === '') throw error
        // A configuration that is valid by the rules and refused here must be refused at the start, not by a failed deployment.
        if (isValid) throw error
      }
    }),
    { numRuns: total, seed },
  )
  // However many configurations the rules refuse, most of the valid ones must have been planned.
  expect(planned.length).toBeGreaterThan(total * 0.9)
  const fields = new Set(planned.flatMap((config) => Object.keys(config)))
  expect([...fields].sort()).toEqual(
    expect.arrayContaining([
      'configContainer',
      'initContainers',
      'storage',
      'routing',
      'portGate',
      'secrets',
      'metrics',
      'annotations',
    ]),
  )
}, 300_000)
