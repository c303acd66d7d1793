import { expect, test } from 'vitest'
import { makeRelease } from '../../../../test/kit/releases.ts'
import { label } from '../../labels.ts'
import { toDesiredWorkload } from './desired-workload.ts'
import { toManifests } from './manifests.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'demo' }
const digest = `sha256:${'a'.repeat(64)}`

function plan(number: number, password: string) {
  const auth = { serverAddress: 'eu.gcr.io', username: '_json_key', password }
  const release = makeRelease({
    owner,
    number,
    deploymentId: 'deployment',
    instances: [{ instanceId: 'instance', image: 'eu.gcr.io/app:1', auth, config: { name: 'web' } }],
  })
  const [instance] = release.instances
  if (!instance) throw new Error('the release has an instance')
  const { pullSecret, workload } = toManifests(toDesiredWorkload(release, instance, {}), {
    release,
    digest,
    secrets: {},
    auth,
  })
  return { secret: pullSecret?.metadata.name, hash: workload.metadata.annotations?.[label.configHash] }
}

test('an unchanged release with the same credentials keeps its container and its pull secret', () => {
  const key = JSON.stringify({ private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n' })
  expect(plan(2, key)).toEqual(plan(1, key))
})

test('other credentials replace the container, because its pods name their pull secret', () => {
  const [one, two] = [plan(1, 'one'), plan(2, 'two')]
  expect(two.secret).not.toBe(one.secret)
  expect(two.hash).not.toBe(one.hash)
})
