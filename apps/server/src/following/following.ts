import type { FollowMode } from '@crux/contract'
import { createRounds, inBackground } from '@crux/service-kit'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { createDecisions } from './decisions.ts'
import { claimDue, deploymentsToStart, refusedOnNode } from './instance-store.ts'
import { judgeDangers } from './judge-dangers.ts'
import { switchFollow } from './switch-follow.ts'
import { createTagChecks } from './tag-checks.ts'
import { requestChecks, syncTags } from './tag-store.ts'
import { createTimers } from './timers.ts'

const roundMs = 5_000
/** Images whose tag was changed are followed at their new tag after this time. */
const syncMs = 60_000

/** A repository as its registry names it; without a tag, all of its tags. */
type Push = { repository: string; tag?: string | undefined; deliveryId?: string | undefined }
export type Following = ReturnType<typeof createFollowing>

/**
 * Deployments that follow a tag. Digests are read when a check is due, decisions about releases are made after each
 * check and at the end of each release. All state is in the database, so that several servers share the work.
 */
export function createFollowing(app: App) {
  const unsubscribes: (() => void)[] = []
  const timers = createTimers({ maxMs: 3 * roundMs })
  const { runIn } = timers
  const decisions = createDecisions(app, timers)
  const { decide } = decisions
  let syncedAt = 0

  const rounds = createRounds({
    intervalMs: roundMs,
    failed: (err) => app.log.warn({ err }, 'followed tags were not checked'),
    async round() {
      if (Date.now() - syncedAt >= syncMs) {
        await syncTags(app.database.pool, app.config.followCheckMs)
        syncedAt = Date.now()
      }
      for (const deploymentId of await claimDue(app.database.pool)) decide(deploymentId)
      await checks.run()
    },
  })
  const checks = createTagChecks({
    app,
    checked: (tag) =>
      inBackground('deployments that a tag starts', async () => {
        for (const deploymentId of await deploymentsToStart(app.database.pool, tag.id)) decide(deploymentId)
      }),
    due: (waitMs) => runIn(waitMs, () => checks.run()),
  })

  /** An event is only a hint: the registry is asked for the digest. */
  async function notePushes(registryId: string, pushes: readonly Push[]): Promise<void> {
    const waitMs = await requestChecks(app.database.pool, registryId, pushes)
    if (waitMs === 0) await checks.run()
    else if (waitMs !== undefined) runIn(waitMs, () => checks.run())
  }

  const decideRefused = (nodeId: string) =>
    inBackground('refused starts by following', async () => {
      for (const deploymentId of await refusedOnNode(app.database.pool, nodeId)) decide(deploymentId)
    })

  return {
    async switch(caller: Caller, ids: { deploymentId: string; instanceId: string }, follow: FollowMode): Promise<void> {
      await switchFollow(app, caller, ids, follow)
      await checks.run()
    },
    notePushes,
    start() {
      unsubscribes.push(
        app.bus.on('registry.pushed', ({ registryId, pushes }) =>
          inBackground('an event of a registry', () => notePushes(registryId, pushes)),
        ),
        app.bus.on('deployment.changed', ({ deploymentId, status }) => {
          if (status === 'successful' || status === 'failed') decide(deploymentId)
        }),
        app.links.onLinked(({ nodeId }) => decideRefused(nodeId)),
        app.bus.on('node.freeze', ({ nodeId }) => decideRefused(nodeId)),
        app.bus.on('config.changed', ({ configId }) =>
          inBackground('dangers of a followed tag', () => judgeDangers(app, { configId })),
        ),
        app.bus.on('deployment.bundles', ({ deploymentId }) =>
          inBackground('dangers of a followed tag', () => judgeDangers(app, { deploymentId })),
        ),
      )
      rounds.start()
    },
    async stop() {
      for (const unsubscribe of unsubscribes.splice(0)) unsubscribe()
      timers.stop()
      await rounds.stop()
      await checks.stop()
      await decisions.stop()
    },
  }
}
