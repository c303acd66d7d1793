import { CruxError, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { findAttempts, type ReleaseInstanceRow, type ReleaseRow, selectReleases } from './store.ts'

/** Converts an instance to the form that the checks of a start use. */
export const toPlanned = ({ instanceId, config, registryId, imageName, imageTag, localOnly }: ReleaseInstanceRow) => ({
  id: instanceId,
  configId: '',
  config,
  image: { registryId, reference: imageName, tag: imageTag, localOnly },
})

/** A rollback is possible only to a release that was successful. */
export const refuseUnsuccessful = ({ status, number }: ReleaseRow): CruxError | undefined =>
  status === 'successful'
    ? undefined
    : new CruxError('preconditionFailed', {
        property: 'number',
        value: number,
        description: `Release ${number} did not succeed: choose one that did.`,
      })

/** The starts of a deployment, newest first; all of them, because users started each one. */
export async function listReleases(
  app: App,
  { team }: Caller,
  deploymentId: string,
): Promise<ResponseInput<'deployments.releases'>> {
  await findAttempts(app.database.pool, team.id, deploymentId)
  const rows = await selectReleases(app.database.pool, deploymentId)
  return rows.map((row) => ({
    ...row,
    startedBy: { id: row.startedById, name: row.startedByName },
    ...(row.eventsDropped && { logRemovedAfterDays: app.config.eventRetentionDays }),
  }))
}
