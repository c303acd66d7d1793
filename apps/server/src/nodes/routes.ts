import type { Operation } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import {
  createInstallScript,
  createNode,
  deleteNode,
  discardInstallScript,
  getNode,
  kickNode,
  listNodeEvents,
  listNodes,
  revokeToken,
  startLocalAgent,
  updateNode,
} from './actions.ts'
import { openAgentImage } from './agent-image.ts'
import { listNodeImages, pruneNodeImages } from './images.ts'
import { authoriseDownload, downloadScript } from './install-download.ts'
import type { LocalAgents } from './local-agents.ts'
import { listMachines } from './machines.ts'
import { updateAgent } from './updates.ts'

type NodeOperation = Extract<Operation, `nodes.${string}`>

export function nodeRoutes(
  app: App,
  localAgents: LocalAgents,
): Handlers<Exclude<NodeOperation, 'nodes.deployments' | 'nodes.run-proposal'>> {
  return {
    'nodes.list': ({ caller }) => listNodes(app, caller),
    'nodes.get': ({ caller, params }) => getNode(app, localAgents, caller, params.nodeId),
    'nodes.local-agent': () => localAgents.availability(),
    'nodes.create': ({ caller, body }) => createNode(app, caller, body),
    'nodes.update': ({ caller, params, body }) => updateNode(app, caller, params.nodeId, body),
    'nodes.delete': ({ caller, params }) => deleteNode(app, localAgents, caller, params.nodeId),
    'nodes.create-script': ({ caller, params, body }) => createInstallScript(app, caller, params.nodeId, body),
    'nodes.get-script': (download) => downloadScript(app, download),
    'nodes.get-agent-image': async (download) => {
      await authoriseDownload(app, download)
      const { size, bytes } = await openAgentImage(app, download.query.architecture)
      download.reply.header('content-length', String(size))
      return bytes
    },
    'nodes.delete-script': ({ caller, params }) => discardInstallScript(app, caller, params.nodeId),
    'nodes.revoke-token': ({ caller, params }) => revokeToken(app, localAgents, caller, params.nodeId),
    'nodes.kick': ({ caller, params }) => kickNode(app, localAgents, caller, params.nodeId),
    'nodes.update-agent': ({ caller, params }) => updateAgent(app, caller, params.nodeId),
    'nodes.start-local-agent': ({ caller, params }) => startLocalAgent(app, localAgents, caller, params.nodeId),
    'nodes.images': ({ caller, params }) => listNodeImages(app, caller, params.nodeId),
    'nodes.machines': ({ caller, params, query }) => listMachines(app, caller, params.nodeId, query),
    'nodes.prune-images': ({ caller, params, body }) => pruneNodeImages(app, caller, params.nodeId, body),
    'nodes.audit': ({ caller, params, query }) => listNodeEvents(app, caller, params.nodeId, query),
  }
}
