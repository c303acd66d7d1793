import { randomUUID } from 'node:crypto'
import { create } from '@bufbuild/protobuf'
import { ReleaseSchema } from '@crux/agent-protocol'
import { arbitraryConfig } from '@crux/rules/arbitrary-config'
import { arbitraryDeployable } from '@crux/rules/arbitrary-deployable'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlanError } from '../../../errors.ts'
import { ownerLabels } from '../../labels.ts'
import { toDesiredWorkload } from './desired-workload.ts'
import { toManifests } from './manifests.ts'

const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_127)
const total = process.env.CRUX_TEST_FULL === '1' ? 10_000 : 400
const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'shop' }
const digest = `sha256:${'a'.repeat(64)}`
const foreign = 'not-the-owner'

const settings = fc.constantFrom(
  {},
  { ingress: { className: 'nginx', rootDomain: 'example.com' }, hasServiceMonitors: true },
  { ingress: { className: 'traefik' } },
)
const anyConfig = fc.oneof(
  arbitraryConfig(),
  arbitraryDeployable({
    hostPorts: [20_000, 20_001],
    hostRange: { from: 21_000, to: 21_005 },
    networkName: 'net',
    image: 'app:1',
  }),
)
/** Most without the settings that are refused as a whole, so that the rest of them is planned. */
const config = fc.record({ given: anyConfig, isWhole: fc.integer({ min: 0, max: 4 }) }).map(({ given, isWhole }) => {
  if (isWhole === 0) return given
  const { configContainer: _config, expectedState, initContainers, storage: _storage, ...rest } = given
  const [volume] = rest.volumes ?? []
  return {
    ...rest,
    ...(isWhole === 1 &&
      volume && { configContainer: { image: 'app:1', path: '/', keepFiles: false, volume: volume.name } }),
    ...(isWhole === 2 && volume && { storage: { storageId: randomUUID(), bucket: 'b', path: volume.name } }),
    ...(expectedState?.state !== 'waiting' && { expectedState }),
    // Tags have digests here only where they are those of the image of `arbitraryDeployable`.
    initContainers: initContainers?.filter(({ image }) => image === 'app:1'),
    replicas: 1,
  }
})

/** Labels and annotations by which a member could try to take the place of another owner. */
const attacks = fc.constantFrom(
  ...['dev.crux.instance', 'dev.crux.team', 'dev.crux.config-hash', 'DEV.CRUX.node'].flatMap((key) => [
    { labels: { deployment: [{ key, value: foreign }] } },
    { labels: { service: [{ key, value: foreign }] } },
    { annotations: { deployment: [{ key, value: foreign }] } },
    { annotations: { ingress: [{ key, value: foreign }] } },
  ]),
)

const attack = fc.option(attacks, { nil: undefined, freq: 1 })

/** Fields of a pod that lead to the node, to the API of the cluster, or to rights of another account. */
const forbidden = ['hostPath', 'hostNetwork', 'hostPort', 'hostPID', 'hostIPC', 'serviceAccountName', 'privileged']

/** Names of fields, not values: an argument of a command may be any text. */
function listFields(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listFields)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...listFields(inner)])
}

test(`toManifests gives none of ${total} random configurations a way to the node or another owner, or refuses it with a message`, () => {
  let planned = 0
  const given = fc.record({ config, attack, settings, admin: fc.boolean(), isLocal: fc.boolean() })
  fc.assert(
    fc.property(given, ({ admin, attack: hostile, config: valid, isLocal, settings: cluster }) => {
      const release = create(ReleaseSchema, {
        key: { deploymentId: 'd', number: 2 },
        owner,
        observationWindowMs: 300,
        hostDangerousAllowed: admin,
        instances: [
          {
            instanceId: 'one',
            imageName: 'registry/app',
            imageTag: '1',
            localOnly: isLocal,
            configJson: JSON.stringify({ ...valid, ...hostile }),
          },
        ],
      })
      const parts = {
        release,
        digest: isLocal ? undefined : digest,
        secrets: {},
        auth: undefined,
        preparationDigests: { 'app:1': digest },
        preparation: {
          agentImage: { image: 'agent:1', pullPolicy: 'Never' },
          authority: undefined,
          storage: { url: 'https://storage.example.com', accessKey: 'a', secretKey: 's' },
        },
      }
      const build = () => release.instances.map((one) => toManifests(toDesiredWorkload(release, one, cluster), parts))
      try {
        const [manifests] = build()
        expect(build()).toEqual([manifests])
        if (!manifests) throw new Error('the release has an instance')
        planned += 1
        const { claims, configMap: _values, namespace, ...rest } = manifests
        const objects = [...Object.values(rest), ...claims].flatMap((object) => (object ? [object] : []))
        for (const { metadata } of objects) {
          expect(metadata.labels).toMatchObject({ ...ownerLabels(owner), 'dev.crux.instance': 'one' })
          expect(metadata.namespace).toBe(namespace.metadata.name)
          for (const value of Object.values(metadata.labels ?? {})) expect(value.length).toBeLessThanOrEqual(63)
        }
        expect(JSON.stringify(objects)).not.toContain(foreign)
        const { spec } = manifests.workload
        expect(listFields(spec).filter((field) => forbidden.includes(field))).toEqual([])
        expect(spec).toMatchObject({
          template: {
            metadata: { labels: { 'dev.crux.instance': 'one', 'dev.crux.team': 'team' } },
            spec: {
              automountServiceAccountToken: false,
              enableServiceLinks: false,
              securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
              containers: [
                isLocal
                  ? { image: 'registry/app:1', imagePullPolicy: 'Never' }
                  : { image: `registry/app:1@${digest}`, securityContext: { allowPrivilegeEscalation: false } },
              ],
            },
          },
        })
      } catch (error) {
        if (!(error instanceof PlanError) || error.message === '') throw error
      }
    }),
    { numRuns: total, seed },
  )
  // However many are refused, a good part of them must have been planned for this test to say anything.
  expect(planned).toBeGreaterThan(total * 0.2)
}, 300_000)
