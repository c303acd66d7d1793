import { CruxError, type FollowMode } from '@crux/contract'
import { deploymentAction, parseImageTag } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { findOtherProtected, type LoadedDeployment, loadDeployment } from '../releases/index.ts'
import { dangerText } from './danger-text.ts'
import { followingChanged } from './events.ts'
import { selectRegistryType, storeFollow } from './instance-store.ts'
import { followTag } from './tag-store.ts'

type Instance = LoadedDeployment['instances'][number]

/**
 * Switches what a new digest of an instance's tag leads to. Releases will start with the rights of this user.
 *
 * @throws CruxError notFound; forbidden `follow` for a caller that is no person; preconditionFailed `follow`
 */
export async function switchFollow(
  app: App,
  { team, actor }: Caller,
  { deploymentId, instanceId }: { deploymentId: string; instanceId: string },
  follow: FollowMode,
): Promise<void> {
  if (follow !== 'off' && actor.kind !== 'user')
    throw new CruxError('forbidden', {
      property: 'follow',
      description: 'Releases start with the rights of a person: a user has to switch this on.',
    })
  await inTransaction(app.database, async (queries) => {
    const deployment = await loadDeployment(queries, team.id, deploymentId, { lock: true })
    const instance = deployment.instances.find(({ id }) => id === instanceId)
    if (!instance) throw new CruxError('notFound', { property: 'instanceId', value: instanceId })
    if (follow !== 'off') {
      const problem = await findProblem(queries, deployment, instance, follow)
      if (problem)
        throw new CruxError('preconditionFailed', { property: 'follow', value: follow, description: problem })
      await followTag(queries, instance.image)
    }
    await storeFollow(queries, { instanceId, follow, userId: actor.id })
  })
  followingChanged(app, { deploymentId, instanceId, follow, userId: actor.id }, 'following a tag was switched')
}

/** Why an instance cannot follow the tag of its image. */
async function findProblem(
  queries: Queries,
  deployment: LoadedDeployment,
  { image, config }: Instance,
  follow: FollowMode,
): Promise<string | undefined> {
  const { version, project, status } = deployment
  if (version.type !== 'rolling' && project.type !== 'versionless')
    return 'Only deployments of rolling versions and of versionless projects can follow a tag: an incremental version is deployed once.'
  const verdict = deploymentAction('edit', { status, versionType: version.type })
  if (!verdict.allowed && status !== 'in-progress') return `${verdict.reason}.`
  if (parseImageTag(image.tag).digest)
    return 'The image is pinned to a digest, which never changes: choose a tag that can be followed.'
  const type = image.localOnly ? 'unchecked' : await selectRegistryType(queries, image.registryId)
  if (type === 'unchecked')
    return 'Crux sends no requests to this registry, so that it cannot see new digests: use a registry of another type.'
  if (follow !== 'deploy') return undefined
  const danger = dangerText(config, deployment.node)
  if (danger) return `${danger} Choose Notify, and an admin of the team can deploy it.`
  if (deployment.protected) return undefined
  const other = await findOtherProtected(queries, {
    nodeId: deployment.node.id,
    prefix: deployment.prefix,
    versionId: deployment.versionId,
    versionType: version.type,
    exceptId: deployment.id,
  })
  return other
    ? `A protected deployment holds ${deployment.prefix} on ${deployment.node.name}: choose Notify, or ask an admin to lift the protection.`
    : undefined
}
