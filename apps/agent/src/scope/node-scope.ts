import { type EngineScope, isCovered } from '@crux/rules'
import type { Logger } from '@crux/service-kit'
import { z } from 'zod'
import { label } from '../engines/labels.ts'
import { getMessage } from '../errors.ts'
import { parseJson } from '../files/parse-json.ts'
import type { Records } from '../state/agent-state.ts'

/**
 * The objects that this agent manages without a command: those of its node and of the team's deleted nodes. The server sends these nodes
 * with each link and each command; the agent stores them, because it must not drop their ports when it starts without a server.
 */
export interface NodeScope {
  covers(labels: Readonly<Record<string, string>>): boolean
  /** The newest scope applies. A scope of another node is ignored. */
  learn(scope: EngineScope): void
}

const Known = z.object({ teamId: z.string(), nodeId: z.string(), deletedNodeIds: z.array(z.string()) })

/**
 * @param options.records store what the server sent
 * @param options.onChange called when the set of deleted nodes changes
 */
export async function openNodeScope(options: {
  records: Records
  nodeId: () => string
  onChange: () => void
  log: Logger
}): Promise<NodeScope> {
  const { records, nodeId, onChange, log } = options
  // A record that cannot be parsed counts as missing: the server sends the data again.
  let known: EngineScope | undefined = parseJson(Known, await records.read('deleted-nodes.json'))
  let writing: Promise<void> = Promise.resolve()

  function save(content: string): void {
    writing = writing
      .then(() => records.write('deleted-nodes.json', content))
      .catch((error: unknown) => log.warn({ reason: getMessage(error) }, 'the deleted nodes could not be remembered'))
  }

  return {
    covers(labels) {
      if (labels[label.node] === nodeId()) return true
      return known !== undefined && known.nodeId === nodeId() && isCovered(labels, known)
    },
    learn({ teamId, nodeId: ofNode, deletedNodeIds }) {
      if (teamId === '' || ofNode !== nodeId()) return
      const context = { teamId, nodeId: ofNode, deletedNodeIds: [...deletedNodeIds] }
      if (known && isSame(known, context)) return
      known = context
      save(JSON.stringify(context))
      onChange()
    },
  }
}

function isSame(left: EngineScope, right: EngineScope): boolean {
  if (left.teamId !== right.teamId || left.nodeId !== right.nodeId) return false
  const ids = new Set(left.deletedNodeIds)
  return ids.size === new Set(right.deletedNodeIds).size && right.deletedNodeIds.every((id) => ids.has(id))
}
