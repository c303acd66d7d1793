import type { Operation } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import {
  deleteContainer,
  deletePrefix,
  getPrefix,
  inspectContainer,
  listContainers,
  operateContainer,
  readLog,
} from './actions.ts'
import { downloadLog } from './download-log.ts'

/** The engine's names of containers contain no character that is special within the quotes of a header. */
const fileName = ({ prefix, name }: { prefix: string; name: string }, pod = '') =>
  `${[prefix, pod || name]
    .filter(Boolean)
    .join('-')
    .replace(/[^\w.-]/g, '_')}.log`

type Named = { nodeId: string; prefix: string; name: string }

export function containerRoutes(app: App): Handlers<Extract<Operation, `containers.${string}`>> {
  return {
    'containers.list': ({ caller, params }) => listContainers(app, caller, toTarget(params)),
    'containers.delete-prefix': ({ caller, params }) => deletePrefix(app, caller, toTarget(params)),
    'containers.start': ({ caller, params }) => operateContainer(app, caller, params.nodeId, ref(params), 'start'),
    'containers.stop': ({ caller, params }) => operateContainer(app, caller, params.nodeId, ref(params), 'stop'),
    'containers.restart': ({ caller, params }) => operateContainer(app, caller, params.nodeId, ref(params), 'restart'),
    'containers.delete': ({ caller, params }) => deleteContainer(app, caller, params.nodeId, ref(params)),
    'containers.inspect': ({ caller, params }) => inspectContainer(app, caller, params.nodeId, ref(params)),
    'containers.log': ({ caller, params, query }) => readLog(app, caller, params.nodeId, ref(params), query),
    'containers.download-log': async ({ caller, params, query, reply }) => {
      const container = ref(params)
      const log = await downloadLog(app, caller, params.nodeId, { container, pod: query.pod }, reply.onClose)
      reply.header('content-disposition', `attachment; filename="${fileName(container, query.pod)}"`)
      return log
    },
  }
}

const toTarget = (params: { nodeId: string; prefix: string }) => ({
  nodeId: params.nodeId,
  prefix: getPrefix(params.prefix),
})
const ref = (params: Named) => ({ prefix: getPrefix(params.prefix), name: params.name })
