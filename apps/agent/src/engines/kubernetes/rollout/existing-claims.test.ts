import { describe, expect, test } from 'vitest'
import { makeClusterObject } from '../../../../test/kit/cluster-object.ts'
import { makeRelease } from '../../../../test/kit/releases.ts'
import type { ClusterObject } from '../cluster/cluster.ts'
import { toDesiredWorkload } from '../plan/desired-workload.ts'
import { toManifests } from '../plan/manifests.ts'
import { assertClaimFits, listKeptSettings } from './existing-claims.ts'

type Volume = { name: string; path: string; type?: 'ro' | 'rwo' | 'rwx'; size?: string; class?: string }

function plan(volume: Omit<Volume, 'path' | 'name'>, config: object = {}) {
  const release = makeRelease({
    owner: { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'demo' },
    hostDangerousAllowed: true,
    instances: [
      { image: 'app:1', config: { name: 'web', volumes: [{ name: 'data', path: '/data', ...volume }], ...config } },
    ],
  })
  const [instance] = release.instances
  if (!instance) throw new Error('the release has an instance')
  const desired = toDesiredWorkload(release, instance, {})
  const { claims } = toManifests(desired, { release, digest: undefined, secrets: {}, auth: undefined })
  const [claim] = claims
  if (!claim) throw new Error('the volume has a claim')
  return { claim, desired }
}

const makeClaim = (
  spec: object = {},
  { name = 'web-data', owner = 'web' }: { name?: string; owner?: string } = {},
): ClusterObject =>
  makeClusterObject('PersistentVolumeClaim', name, {
    labels: { 'dev.crux.name': owner },
    fields: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec } },
  })

describe('a claim that exists', () => {
  test('is not for the volume of another container, whose names join to the same one', () => {
    const { desired } = plan({})
    expect(() => assertClaimFits(makeClaim({}, { owner: 'web-da' }), desired)).toThrow(/^The volume .* of web-da and /)
    expect(() => assertClaimFits(makeClaim(), desired)).not.toThrow()
  })

  test('for one pod is refused where several would write to it or read it, and its type is named', () => {
    const check = (volume: Parameters<typeof plan>[0], config: object, spec?: object) => () =>
      assertClaimFits(makeClaim(spec), plan(volume, config).desired)
    const recreated = { deploymentStrategy: 'recreate' }
    expect(check({ type: 'rwx' }, {})).toThrow(
      'volumes: the claim web-data was made for one pod (ReadWriteOnce), and several pods would write to it as the volume data of the type rwx: set the type back to rwo, choose another name for the volume, or delete the claim with its data',
    )
    expect(check({ type: 'rwx' }, { ...recreated, replicas: 2 })).toThrow('several pods would write')
    expect(check({ type: 'ro' }, {})).toThrow('several pods would read it as the volume data of the type ro')
    expect(check({ type: 'rwx' }, {}, { accessModes: ['ReadOnlyMany'] })).toThrow('made for reading alone')
    expect(check({ type: 'rwx' }, recreated)).not.toThrow()
    expect(check({ type: 'rwo' }, {})).not.toThrow()
    expect(check({ type: 'rwx' }, {}, { accessModes: ['ReadWriteMany'] })).not.toThrow()
    expect(check({ type: 'ro' }, {}, { accessModes: ['ReadWriteMany'] })).not.toThrow()
  })

  test('keeps its size, class and access mode, and says so in one sentence', () => {
    const kept = (volume: Parameters<typeof plan>[0], spec?: object) =>
      listKeptSettings(makeClaim(spec), plan(volume).claim)
    expect(kept({ type: 'rwx', size: '2Gi', class: 'fast' }, { storageClassName: 'slow' })).toEqual([
      'volumes: the claim web-data keeps the size 1Gi and the storage class slow and the access mode ReadWriteOnce, because a claim that exists is not changed',
    ])
    expect(kept({ class: 'fast' })).toEqual([expect.stringContaining('keeps no storage class')])
  })

  test('with what the configuration says keeps nothing, also where the class is the default one or the volume is larger', () => {
    const { claim } = plan({ size: '1024Mi' })
    const found = makeClaim({ storageClassName: 'default' })
    expect(listKeptSettings(found, claim)).toEqual([])
    const larger = { ...found, fields: { ...found.fields, status: { capacity: { storage: '8Gi' } } } }
    expect(listKeptSettings(larger, claim)).toEqual([])
    expect(listKeptSettings(makeClaim({ accessModes: ['ReadWriteMany'] }), claim)).toEqual([])
  })
})
