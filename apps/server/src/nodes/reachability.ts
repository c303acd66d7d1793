import { createRounds } from '@crux/service-kit'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordTeamEvent, type TeamEventOf } from '../team-events/index.ts'
import { claimBack, claimUnreachable, type ReportedNode } from './reachability-store.ts'

/** A restart of a machine or an update of an agent takes less. */
const unreachableMs = 5 * 60_000
/** An agent that crashes repeatedly connects between two crashes, and is not back. */
const steadyLinkMs = 10_000
const checkMs = 15_000
/** If this process stops for longer than this (sleep, an unavailable database), the time does not count against the agents. */
const pausedMs = 3 * checkMs

/**
 * Tells teams that a node has been unreachable for five minutes, and that it is back. Time counts only while a server
 * listened. Several servers may check: each outage is reported once.
 */
export function createReachability(app: Pick<App, 'database' | 'jobs' | 'log'>) {
  let lastCheck = 0
  let resumedAt = new Date(0)

  const rounds = createRounds({
    intervalMs: checkMs,
    round: check,
    failed: (err) => app.log.warn({ err }, 'unreachable nodes were not reported'),
  })

  async function check(): Promise<void> {
    const now = Date.now()
    if (lastCheck > 0 && now - lastCheck > pausedMs) resumedAt = new Date(now)
    await inTransaction(app.database, async (queries) => {
      for (const node of await claimUnreachable(queries, { afterMs: unreachableMs, resumedAt }))
        await recordTeamEvent(app, queries, toEvent('node-unreachable', node))
      for (const node of await claimBack(queries, { afterMs: steadyLinkMs }))
        await recordTeamEvent(app, queries, toEvent('node-back', node))
    })
    lastCheck = now
  }

  return {
    /** Runs one round; the interval does the same. */
    check: rounds.run,
    start: rounds.start,
    stop: rounds.stop,
  }
}

function toEvent(
  type: 'node-unreachable' | 'node-back',
  { id, teamId, name, since }: ReportedNode,
): TeamEventOf<typeof type> {
  const at = new Date().toISOString()
  return {
    type,
    key: `${type} ${id} ${since.toISOString()}`,
    teamId,
    at,
    nodeId: id,
    nodeName: name,
    since: since.toISOString(),
  }
}
