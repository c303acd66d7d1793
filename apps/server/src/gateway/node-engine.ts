import { Code, ConnectError } from '@connectrpc/connect'
import { EngineKind } from '@crux/agent-protocol'
import type { NodeType } from '@crux/contract'

const names = { docker: 'Docker', k8s: 'Kubernetes' } as const satisfies Record<NodeType, string>

/** Agents before the engine was reported are all for Docker. */
const toNodeType = (engine: EngineKind): NodeType => (engine === EngineKind.KUBERNETES ? 'k8s' : 'docker')

/**
 * The deployments of a node are made for its engine: the agent of another one would not know them.
 *
 * @throws ConnectError with a sentence for the log of the agent
 */
export function requireEngine(nodeType: NodeType, engine: EngineKind): void {
  const found = toNodeType(engine)
  if (found === nodeType) return
  throw new ConnectError(
    `this node is for ${names[nodeType]}, and this agent serves ${names[found]}: create another node in Crux`,
    Code.FailedPrecondition,
  )
}
