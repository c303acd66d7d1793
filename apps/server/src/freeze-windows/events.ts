import type { App } from '../context.ts'

/** Releases that wait on these nodes for the end of a freeze are decided again, on all servers. */
export function freezesChanged(app: App, nodeIds: readonly string[]): void {
  for (const nodeId of new Set(nodeIds)) app.bus.publish({ type: 'node.freeze', nodeId })
}
