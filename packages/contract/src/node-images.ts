import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { Timestamp } from './shapes.ts'

export const nodeImageStates = ['running', 'needed', 'unneeded', 'foreign'] as const
/** An image in the store of a node with its users. Only unneeded images that Crux pulled can be deleted. */
export const NodeImage = z.object({
  /** `sha256:` and 64 hexadecimal digits; empty for an image of other owners, of which admins and owners see only names and size. */
  id: z.string(),
  references: z.array(z.string()),
  sizeBytes: z.number(),
  /** Absent where the build wrote no real date. */
  createdAt: Timestamp.nullish(),
  /** `running`: a container uses it; `needed`: a release that a rollback can start; `foreign`: not pulled by Crux. */
  state: z.enum(nodeImageStates),
  /** A text that names the container or release. */
  neededBy: z.string().nullish(),
})
const nodes = '/api/:teamSlug/nodes' as const

export const nodeImageEndpoints = endpoints({
  'nodes.images': {
    summary: "Images of a node's store and what needs them",
    route: `GET ${nodes}/:nodeId/images`,
    response: z.object({ images: z.array(NodeImage), reclaimableBytes: z.number() }),
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'nodes.read',
  },
  'nodes.prune-images': {
    summary: 'Delete images that no container and no release needs',
    route: `POST ${nodes}/:nodeId/images/prune`,
    body: z.object({
      imageIds: z
        .array(z.string().regex(/^sha256:[0-9a-f]{64}$/))
        .min(1)
        .max(1_000),
    }),
    response: z.object({
      removed: z.array(z.string()),
      freedBytes: z.number(),
      /** Images that are needed in the meantime, with the reason. */
      kept: z.array(z.object({ id: z.string(), reason: z.string() })),
    }),
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'nodes.edit',
    audit: 'node-images',
  },
})
