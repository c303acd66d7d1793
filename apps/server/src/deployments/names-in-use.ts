import type { ResponseInput } from '@crux/contract'
import type { App } from '../context.ts'
import { type LoadedDeployment, listNeighbours } from '../releases/index.ts'
import type { Next } from './next-release.ts'

type Problem = ResponseInput<'deployments.preview'>['problems'][number]

/**
 * Containers that a start could not create because, by the records, another project of the team has a container of that
 * name on the node. The agent refuses names that the records do not contain, at the start.
 */
export async function findNamesInUse(
  app: App,
  deployment: LoadedDeployment,
  next: readonly Next[],
): Promise<Problem[]> {
  const neighbours = await listNeighbours(app.database.pool, deployment)
  return next.flatMap(({ instanceId, config }, index) => {
    const name = `${deployment.prefix}-${config.name}`
    const holder = neighbours.find((other) => other.name === name)
    if (!holder) return []
    return [
      {
        property: `instances[${index}].config.name`,
        error: 'containerNameInUse',
        description: `${config.name}: ${holder.projectName} has a container ${name} on ${deployment.node.name}. Name this one differently, or choose another prefix.`,
        instanceId,
      },
    ]
  })
}
