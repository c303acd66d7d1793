import { hostname } from 'node:os'
import { z } from 'zod'
import { EngineError, getMessage } from '../../../errors.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { AgentImage } from '../plan/preparation.ts'

export const agentImageSetting = 'CRUX_AGENT_IMAGE_IN_CLUSTER'
/** The name of the agent's container in its pod, by the manifest of the node page. */
const agentContainer = 'agent'

const Pod = z.object({
  spec: z.object({
    containers: z.array(z.object({ name: z.string(), image: z.string(), imagePullPolicy: z.string() })),
  }),
})

/**
 * The image with which the agent itself runs in the cluster: each machine that may run the agent has it, or can pull it.
 *
 * @param own.image of the setting, for an agent that runs outside of the cluster
 * @throws EngineError `refused` with a sentence for users
 */
export async function findAgentImage(
  cluster: Pick<Cluster, 'get'>,
  own: { image: string | undefined; namespace: string | undefined; pod?: string },
  signal: AbortSignal,
): Promise<AgentImage> {
  const { image, namespace, pod: name = hostname() } = own
  if (image !== undefined) return { image, pullPolicy: 'IfNotPresent' }
  if (namespace === undefined)
    throw refused(
      `the agent runs outside of the cluster: set ${agentImageSetting} to an image of it that the cluster has`,
    )
  const pod = await retryWhileUnavailable(() => cluster.get({ kind: 'Pod', namespace, name }), signal).catch(
    (error: unknown) => {
      if (signal.aborted) throw error
      throw refused(`${getMessage(error)}. Apply the manifest of the node page again, which gives it`, error)
    },
  )
  const containers = Pod.safeParse(pod?.fields).data?.spec.containers
  const found = containers?.find((container) => container.name === agentContainer)
  if (!found)
    throw refused(`the namespace ${namespace} has no pod ${name} of the agent: set ${agentImageSetting} to its image`)
  return { image: found.image, pullPolicy: found.imagePullPolicy }
}

const refused = (reason: string, cause?: unknown) =>
  new EngineError('refused', `Files are copied into volumes by the agent's image, which is not known: ${reason}`, {
    ...(cause !== undefined && { cause }),
  })
