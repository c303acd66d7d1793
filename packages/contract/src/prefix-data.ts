import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { Timestamp } from './shapes.ts'

/** A claim of a volume on a cluster. The uid names this very claim: one that replaces it under its name is another one. */
export const ClaimKey = z.object({ name: z.string().min(1).max(253), uid: z.string().min(1).max(100) })
export type ClaimKey = z.output<typeof ClaimKey>

const Claim = z.object({
  name: z.string(),
  uid: z.string(),
  /** The bound volume. */
  volumeName: z.string().nullish(),
  /** As the cluster has it: `10Gi`. */
  size: z.string(),
  storageClass: z.string().nullish(),
  /** `Bound`, `Pending`, `Lost`. */
  phase: z.string(),
  createdAt: Timestamp.nullish(),
})

/** What stays under a prefix of a cluster when its containers are deleted. */
export const PrefixData = z.object({
  claims: z.array(Claim),
  namespace: z.object({
    exists: z.boolean(),
    /** Why it cannot be deleted, whatever is chosen; null: the node has made it. */
    reason: z.string().nullish(),
    /** What the agent sees of others in it. It may not list all kinds, so that there may be more. */
    foreignObjects: z.array(z.object({ kind: z.string(), name: z.string() })),
  }),
})
export type PrefixData = z.output<typeof PrefixData>

const claimsMax = 500
export const deletionStates = ['deleted', 'deleting', 'kept'] as const
const Deletion = z.object({
  /** `deleting`: the cluster has accepted it, and has not finished it. */
  state: z.enum(deletionStates),
  /** Why it is not deleted. */
  reason: z.string().nullish(),
})

/** What became of each part that was to be deleted. */
export const DeletedPrefixData = z.object({
  claims: z.array(Deletion.extend({ name: z.string(), uid: z.string() })),
  /** Null when it was not to be deleted. */
  namespace: Deletion.nullish(),
})
export type DeletedPrefixData = z.output<typeof DeletedPrefixData>

const data = '/api/:teamSlug/nodes/:nodeId/:prefix/data' as const

export const prefixDataEndpoints = endpoints({
  'prefix-data.get': {
    summary: 'What stays under a prefix of a cluster when its containers are deleted',
    route: `GET ${data}`,
    response: PrefixData,
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.read',
  },
  'prefix-data.delete': {
    summary: 'Delete claims with their data, and the namespace, of a prefix without containers',
    route: `POST ${data}/delete`,
    body: z.object({ claims: z.array(ClaimKey).max(claimsMax), namespace: z.boolean() }),
    response: DeletedPrefixData,
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.delete-data',
    audit: 'prefix-data',
  },
})
