import { z } from 'zod'
import { KeyValues, Ports } from './container-configuration-fields.ts'
import { endpoints } from './endpoint.ts'
import { type PortProtocol, portProtocols, registryTypes } from './enums.ts'
import { limits } from './limits.ts'
import { ImageReference } from './projects.ts'
import { basic, Id, Name, Port, Prefix } from './shapes.ts'

/** An image that runs as a project of its own: `nginx:1.29`, `ghcr.io/acme/shop`. Without a registry in it the name means Docker Hub. */
export const ImageRun = z.object({
  /** Chosen by the caller. The same key is answered with what its first request created, so that a repeated request creates nothing twice. */
  key: Id,
  image: ImageReference,
  /** Absent: the registry of the team whose address the reference begins with. */
  registryId: Id.nullish(),
  /** Creates an unchecked registry for the host of the reference where the team has none. */
  createRegistry: z.boolean().default(false),
  nodeId: Id,
  prefix: Prefix,
  /** Of the project. Absent: made of the name of the image. */
  name: Name.nullish(),
  ports: Ports.default([]),
  environment: KeyValues.nullish(),
  /** Why an admin runs it during a freeze window of an environment with this node and prefix. */
  overrideFreeze: z.string().trim().min(1).max(limits.freezeReason.max).nullish(),
})
export const ImageRunStarted = z.object({ projectId: Id, versionId: Id, deploymentId: Id })

export const ImageInspection = z.object({
  /** The full name: `docker.io/library/nginx`. */
  name: z.string(),
  tag: z.string(),
  /** The registry of the team that the image comes from; null where the team has none for it. */
  registry: basic(registryTypes).nullable(),
  /** Null while it is not known: no registry, one that Crux does not query, or one that did not answer. */
  exists: z.boolean().nullable(),
  /** Why the registry did not answer. */
  problem: z.string().nullable(),
  exposedPorts: z.array(z.object({ internal: Port, protocol: z.enum(portProtocols) })),
})

const portList = /^\d{1,5}(\/(tcp|udp))?(,\d{1,5}(\/(tcp|udp))?)*$/
function readPort(text: string): { internal: number; protocol: PortProtocol } {
  const [port, protocol] = text.split('/')
  return { internal: Number(port), protocol: protocol === 'udp' ? 'udp' : 'tcp' }
}

export const RunProposalQuery = z.object({
  /** The name of the image. */
  image: ImageReference,
  /** A prefix that the user has typed; absent: one is made of the name of the image. */
  prefix: Prefix.optional(),
  /** Ports of the container, separated by commas: `80,53/udp`. */
  ports: z
    .string()
    .max(limits.proposedPorts * 10)
    .regex(portList, 'Write ports such as 80,53/udp')
    .transform((text) => text.split(',').map(readPort))
    .pipe(z.array(z.object({ internal: Port, protocol: z.enum(portProtocols) })).max(limits.proposedPorts))
    .optional(),
})
export const RunProposal = z.object({
  /** A name that no project of the team has. */
  name: z.string(),
  prefix: z.string(),
  /** The project that uses the prefix on the node already. */
  prefixUsedBy: z.string().nullable(),
  /** For each port of the container one that is free on the node. */
  ports: z.array(z.object({ internal: Port, external: Port, protocol: z.enum(portProtocols) })),
})

export const runImageEndpoints = endpoints({
  'projects.run': {
    summary: 'Run an image: create a versionless project with it and its deployment, and start that',
    route: 'POST /api/:teamSlug/projects/run',
    body: ImageRun,
    status: 201,
    location: 'part',
    response: ImageRunStarted,
    errors: ['alreadyExists', 'preconditionFailed', 'keysAreUnique'],
    permission: 'projects.edit',
    audit: 'project',
    // The environment may contain credentials.
    auditBody: false,
  },
  'images.inspect': {
    summary: 'Read what the registry of the team tells about an image',
    route: 'GET /api/:teamSlug/images/inspect',
    query: z.object({ image: ImageReference }),
    response: ImageInspection,
    permission: 'registries.read',
  },
  'nodes.run-proposal': {
    summary: 'Propose a name, a prefix and free ports for an image on a node',
    route: 'GET /api/:teamSlug/nodes/:nodeId/run-proposal',
    query: RunProposalQuery,
    response: RunProposal,
    errors: ['preconditionFailed'],
    permission: 'nodes.read',
  },
  'nodes.local-agent': {
    summary: 'Read whether the server can run an agent on its own machine',
    route: 'GET /api/:teamSlug/nodes/local-agent',
    response: z.object({ available: z.boolean(), reason: z.string().nullable() }),
    permission: 'nodes.read',
  },
})
