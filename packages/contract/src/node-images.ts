import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { Id, params, Timestamp } from './shapes.ts'

export const nodeImageStates = ['running', 'needed', 'unneeded', 'foreign'] as const
/** An image of a node's store and who wants it. Only those that Crux brought and nobody needs any more can be removed. */
export const NodeImage = z.object({
  /** `sha256:` and 64 hexadecimal digits; empty for an image of others, of which admins and owners see names and size alone. */
  id: z.string(),
  references: z.array(z.string()),
  sizeBytes: z.number(),
  /** Absent where the build wrote no real date. */
  createdAt: Timestamp.nullish(),
  /** `running`: a container has it; `needed`: a release that can be gone back to; `foreign`: not brought by Crux. */
  state: z.enum(nodeImageStates),
  /** In words: which container or release. */
  neededBy: z.string().nullish(),
})
const nodeId = params({ nodeId: Id })
const nodes = '/api/:teamSlug/nodes' as const

export const nodeImageEndpoints = endpoints({
  'nodes.images': {
    summary: "Images of a node's store and what needs them",
    method: 'GET',
    path: `${nodes}/:nodeId/images`,
    params: nodeId,
    status: 200,
    response: z.object({ images: z.array(NodeImage), reclaimableBytes: z.number() }),
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'nodes.read',
    audit: false,
  },
  'nodes.prune-images': {
    summary: 'Remove images that no container and no release needs',
    method: 'POST',
    path: `${nodes}/:nodeId/images/prune`,
    params: nodeId,
    body: z.object({
      imageIds: z
        .array(z.string().regex(/^sha256:[0-9a-f]{64}$/))
        .min(1)
        .max(1_000),
    }),
    status: 200,
    response: z.object({
      removed: z.array(z.string()),
      freedBytes: z.number(),
      /** Those that somebody needs by now, and why. */
      kept: z.array(z.object({ id: z.string(), reason: z.string() })),
    }),
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'nodes.edit',
    audit: 'node-images',
  },
})
