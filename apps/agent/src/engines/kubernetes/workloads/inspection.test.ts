import { expect, test } from 'vitest'
import { makeClusterObject } from '../../../../test/kit/cluster-object.ts'
import { label } from '../../labels.ts'
import type { ClusterObject, ObjectKind } from '../cluster/cluster.ts'
import { describeWorkload } from './inspection.ts'

const toObject = (kind: ObjectKind, spec: object, annotations: Record<string, string> = {}): ClusterObject =>
  makeClusterObject(kind, 'web', { annotations, fields: { spec } })
const toSpec = (env: { name: string; value: string }[]) => ({ containers: [{ name: 'web', env }] })
const configured = [
  { name: 'COLOUR', value: 'blue' },
  { name: 'PASSWORD', value: 'correct-horse' },
]

test('the description of a workload shows what is configured, and neither secrets nor what another program added to its pods', () => {
  const workload = toObject(
    'Deployment',
    { template: { spec: toSpec(configured) } },
    { [label.secretKeys]: 'PASSWORD' },
  )
  const pod = toObject('Pod', toSpec([...configured, { name: 'VAULT_TOKEN', value: 'battery-staple' }]))
  const shown = [
    { name: 'COLOUR', value: 'blue' },
    { name: 'PASSWORD', value: '***' },
  ]
  expect(JSON.parse(describeWorkload(workload, [pod]))).toMatchObject({
    workload: { spec: { template: { spec: { containers: [{ env: shown }] } } } },
    pods: [{ spec: { containers: [{ env: [...shown, { name: 'VAULT_TOKEN', value: '***' }] }] } }],
  })
})

test('the description of pods whose workload is gone shows no value, since nothing says which are secret', () => {
  const { pods } = JSON.parse(describeWorkload(undefined, [toObject('Pod', toSpec(configured))]))
  expect(pods[0].spec.containers[0].env.map(({ value }: { value: string }) => value)).toEqual(['***', '***'])
})
