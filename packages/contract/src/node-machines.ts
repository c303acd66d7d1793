import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { Page } from './shapes.ts'

/** `cpuMillis`: thousandths of a core. */
const Capacity = z.object({ cpuMillis: z.number(), memoryBytes: z.number(), pods: z.int() })
/** A machine of a cluster: what Kubernetes names a node. */
export const Machine = z.object({
  name: z.string(),
  ready: z.boolean(),
  /** No new pods are started on it. */
  cordoned: z.boolean(),
  problems: z.array(
    z.object({
      /** `NotReady`, or a condition: `DiskPressure`. */
      type: z.string(),
      /** As the cluster names it: `KubeletNotReady`. */
      reason: z.string(),
      /** In the words of the cluster; null for users. */
      message: z.string().nullish(),
    }),
  ),
  kubeletVersion: z.string(),
  architecture: z.string(),
  /** What pods may use of it. */
  allocatable: Capacity,
  /** What the pods on it have requested, of all teams and programs; null where the agent does not see all of them. */
  requested: Capacity.nullish(),
})
export type Machine = z.output<typeof Machine>
export const machinesTakeMax = 250

export const nodeMachineEndpoints = endpoints({
  'nodes.machines': {
    summary: 'Machines of a cluster with their capacity, those with a problem first',
    route: 'GET /api/:teamSlug/nodes/:nodeId/machines',
    query: Page.extend({
      take: z.coerce.number().int().min(1).max(machinesTakeMax),
      /** Part of a name. */
      search: z.string().trim().max(255).optional(),
    }),
    response: z.object({
      /** Why the agent may not list them; the rest is empty then. */
      missingRight: z
        .object({
          description: z.string(),
          /** Of the service account that needs the right; null when the agent runs outside of the cluster. */
          agentNamespace: z.string().nullish(),
        })
        .nullish(),
      items: z.array(Machine),
      /** How many match the search. */
      total: z.int(),
      /** The whole cluster, whatever the search is. */
      cluster: z.object({
        machines: z.int(),
        ready: z.int(),
        allocatable: Capacity,
        requested: Capacity.nullish(),
      }),
    }),
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'nodes.read',
  },
})
