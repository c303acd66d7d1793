import type { App } from '../context.ts'
import { createAgentPort } from './agent-port.ts'
import { scheduleDispatch } from './dispatch.ts'
import { type Clock, createLeases } from './leases.ts'

/** The background work of deployments: dispatching, receiving reports of agents, counting leases. */
export function createDeploymentWork(app: App, now?: Clock) {
  const leases = createLeases(app, now)
  const unsubscribes: (() => void)[] = []
  return {
    port: createAgentPort(app, leases),
    leases,
    async start() {
      unsubscribes.push(
        app.bus.on('node.work', ({ nodeId }) => scheduleDispatch(app, nodeId)),
        app.bus.onReconnected(() => {
          for (const nodeId of app.links.held()) scheduleDispatch(app, nodeId)
        }),
      )
      await leases.start()
    },
    async stop() {
      for (const unsubscribe of unsubscribes.splice(0)) unsubscribe()
      await leases.stop()
    },
  }
}
