import type { DeploymentPort, LinkedAgent } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { dispatch, releaseKey, scheduleDispatch } from './dispatch.ts'
import { type Stored, storeBatch } from './journal.ts'
import { selectPositions } from './journal-store.ts'
import type { createLeases } from './leases.ts'
import { invalidateSecretsOfNode } from './stale-secrets.ts'

type Leases = ReturnType<typeof createLeases>

/** The deployments' side of the gateway: positions of journals, waiting releases of a node, and storage of the agents' reports. */
export function createAgentPort(app: App, leases: Leases): DeploymentPort {
  return {
    async positions(agent) {
      const keys = getKeys(agent)
      if (keys.length === 0) return []
      const rows = await selectPositions(app.database.pool, agent.nodeId, keys)
      return rows.map((row) => ({
        release: { deploymentId: row.deploymentId, number: row.number },
        acknowledgedSequence: BigInt(row.acknowledged),
        abandoned: row.abandoned,
      }))
    },
    keyChanged: ({ nodeId }) => invalidateSecretsOfNode(app, nodeId),
    linked(agent) {
      const known = new Set(getKeys(agent).map(releaseKey))
      // This renews no lease yet, because a link must last before it does (leases.ts).
      dispatch(app, agent.nodeId, { known, again: true }).catch((err: unknown) =>
        app.log.error({ err, nodeId: agent.nodeId }, 'waiting releases were not dispatched'),
      )
    },
    linkLost({ nodeId }) {
      leases.restart(nodeId).catch((err: unknown) => app.log.warn({ err, nodeId }, 'a lease was not restarted'))
    },
    async report(agent, batch) {
      const stored: Stored = await storeBatch(app, agent, batch)
      if (stored.ended) scheduleDispatch(app, agent.nodeId)
      return stored.acknowledged
    },
  }
}

const getKeys = (agent: LinkedAgent) => agent.info.openReleases
