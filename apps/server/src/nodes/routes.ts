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

type NodeOperation = Extract<Operation, `nodes.${string}`>

export function nodeRoutes(app: App, localAgents: LocalAgents): Handlers<Exclude<NodeOperation, 'nodes.deployments'>> {
  return {
    'nodes.list': ({ team }) => listNodes(app, team),
    'nodes.get': ({ team, actor, params }) => getNode(app, localAgents, { team, actor }, params.nodeId),
    'nodes.create': ({ team, actor, body }) => createNode(app, { team, actor }, body),
    'nodes.update': async ({ team, actor, params, body }) =>
      void (await updateNode(app, { team, actor }, params.nodeId, body)),
    'nodes.delete': async ({ team, params }) => void (await deleteNode(app, localAgents, team, params.nodeId)),
    'nodes.create-script': ({ team, actor, params, body }) =>
      createInstallScript(app, { team, actor }, params.nodeId, body),
    'nodes.get-script': (download) => downloadScript(app, download),
    'nodes.get-agent-image': async (download) => {
      await authoriseDownload(app, download)
      const { size, bytes } = await openAgentImage(app, download.query.architecture)
      download.reply.header('content-length', String(size))
      return bytes
    },
    'nodes.delete-script': async ({ team, params }) => void (await discardInstallScript(app, team, params.nodeId)),
    'nodes.revoke-token': async ({ team, actor, params }) =>
      void (await revokeToken(app, localAgents, { team, actor }, params.nodeId)),
    'nodes.kick': async ({ team, actor, params }) =>
      void (await kickNode(app, localAgents, { team, actor }, params.nodeId)),
    'nodes.start-local-agent': async ({ team, actor, params }) =>
      void (await startLocalAgent(app, localAgents, { team, actor }, params.nodeId)),
    'nodes.images': ({ team, params }) => listNodeImages(app, team, params.nodeId),
    'nodes.prune-images': ({ team, params, body }) => pruneNodeImages(app, team, params.nodeId, body),
    'nodes.audit': ({ team, params, query }) => listNodeEvents(app, team, params.nodeId, query),
  }
}
