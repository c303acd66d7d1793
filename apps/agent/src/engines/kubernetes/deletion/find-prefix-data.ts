import { create } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { type PrefixData, PrefixDataSchema } from '@crux/agent-protocol'
import { z } from 'zod'
import type { PrefixTarget } from '../../engine.ts'
import type { ClusterObject } from '../cluster/cluster.ts'
import { checkNamespace } from '../rollout/check-namespace.ts'
import type { ClusterNode } from '../rollout/release-context.ts'
import { listClaims } from './claims.ts'
import { toRefusal } from './deletion-context.ts'
import { explainDeleting, findReasonToKeep, getNamespace, listForeign } from './namespace.ts'
import { assertPrefix } from './prefix-name.ts'

const claimsMax = 500
const foreignMax = 50

const text = z.string().default('')
const Storage = z.object({ storage: text }).prefault({})
const Claim = z.object({
  spec: z
    .object({
      volumeName: text,
      storageClassName: text,
      resources: z.object({ requests: Storage }).prefault({}),
    })
    .prefault({}),
  status: z.object({ phase: text, capacity: Storage }).prefault({}),
})

/**
 * What stays under a prefix when its containers are deleted. Nothing is changed.
 *
 * @throws EngineError `refused` for a prefix that this agent does not serve, and for a missing right
 */
export async function findPrefixData(node: ClusterNode, target: PrefixTarget): Promise<PrefixData> {
  try {
    assertPrefix(target.prefix)
    checkNamespace(node, target.prefix)
    const namespace = await getNamespace(node.cluster, target)
    if (!namespace) return create(PrefixDataSchema, {})
    const claims = await listClaims(node.cluster, target)
    const reason = namespace.deletedAt ? explainDeleting(target, namespace) : findReasonToKeep(node, target, namespace)
    const foreign = reason === undefined ? await listForeign(node.cluster, target) : []
    return create(PrefixDataSchema, {
      claims: claims.slice(0, claimsMax).map(toClaim),
      namespaceExists: true,
      namespaceReason: reason ?? '',
      foreignObjects: foreign.slice(0, foreignMax),
    })
  } catch (error) {
    throw toRefusal(error)
  }
}

function toClaim({ createdAt, fields, name, uid }: ClusterObject) {
  const { spec, status } = Claim.parse(fields)
  return {
    key: { name, uid },
    volumeName: spec.volumeName,
    size: status.capacity.storage || spec.resources.requests.storage,
    storageClass: spec.storageClassName,
    phase: status.phase,
    createdAt: timestampFromDate(createdAt),
  }
}
