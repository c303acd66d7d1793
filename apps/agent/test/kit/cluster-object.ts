import type { ClusterObject, ObjectKind } from '../../src/engines/kubernetes/cluster/cluster.ts'

/** An object as the API server answers it, for tests without a cluster. Its uid is `uid-NAME`. */
export const makeClusterObject = (
  kind: ObjectKind,
  name: string,
  input: Partial<ClusterObject> = {},
): ClusterObject => ({
  kind,
  name,
  namespace: 'demo',
  uid: `uid-${name}`,
  resourceVersion: '1',
  generation: 1,
  createdAt: new Date(0),
  deletedAt: undefined,
  labels: {},
  annotations: {},
  owners: [],
  finalizers: [],
  fields: {},
  ...input,
})
