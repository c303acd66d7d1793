import { expect, test } from 'vitest'
import { label, type OwnerIds, ownerLabels } from '../../labels.ts'
import { toWorkloadKey } from './external-addresses.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'demo' }
const toKey = (changed: Partial<OwnerIds>, name = 'web') =>
  toWorkloadKey({
    labels: { ...ownerLabels({ ...owner, ...changed }), [label.name]: name },
    name: 'object',
    namespace: changed.prefix ?? owner.prefix,
  })

test('a workload keeps its addresses when only one of both was applied again by the node that replaces a deleted one', () => {
  expect(toKey({ nodeId: 'deleted-node' })).toBe(toKey({}))
})

test('a workload has no addresses of another team, project, namespace or container', () => {
  const others = [
    toKey({ teamId: 'other' }),
    toKey({ projectId: 'other' }),
    toKey({ prefix: 'other' }),
    toKey({}, 'api'),
  ]
  expect(new Set([toKey({}), ...others]).size).toBe(5)
})
