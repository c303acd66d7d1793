import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { Caller, UserActor } from './actor.ts'
import { pendingRequirement } from './pending-requirement.ts'
import { findMembership } from './store.ts'

/**
 * The caller in a team that the body of a request names. The guard does the same for a team in the path.
 *
 * @throws CruxError forbidden `teamSlug`, the same for a team that does not exist, or `secondFactor`
 */
export async function findCaller(
  app: Pick<App, 'database'>,
  actor: UserActor,
  teamSlug: string,
): Promise<Caller<UserActor>> {
  const team = await findMembership(app.database.pool, actor, { by: 'slug', value: teamSlug })
  if (!team)
    throw new CruxError('forbidden', {
      property: 'teamSlug',
      description: 'There is no such team, or you are not a member of it.',
    })
  const refusal = pendingRequirement(actor, team)
  if (refusal) throw refusal
  return { team, actor }
}
