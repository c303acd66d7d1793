import type { Operation } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import {
  deleteContainer,
  deletePrefix,
  inspectContainer,
  listContainers,
  operateContainer,
  prefixOf,
  readLog,
} from './actions.ts'
import { downloadLog } from './download-log.ts'

/** The engine's names of containers contain no character that is special within the quotes of a header. */
const fileName = ({ prefix, name }: { prefix: string; name: string }) =>
  `${[prefix, name]
    .filter(Boolean)
    .join('-')
    .replace(/[^\w.-]/g, '_')}.log`

type Named = { nodeId: string; prefix: string; name: string }

export function containerRoutes(app: App): Handlers<Extract<Operation, `containers.${string}`>> {
  return {
    'containers.list': ({ team, params }) => listContainers(app, team, toTarget(params)),
    'containers.delete-prefix': async ({ team, actor, params }) =>
      void (await deletePrefix(app, { team, actor }, toTarget(params))),
    'containers.start': async ({ team, actor, params }) =>
      void (await operateContainer(app, { team, actor }, params.nodeId, ref(params), 'start')),
    'containers.stop': async ({ team, actor, params }) =>
      void (await operateContainer(app, { team, actor }, params.nodeId, ref(params), 'stop')),
    'containers.restart': async ({ team, actor, params }) =>
      void (await operateContainer(app, { team, actor }, params.nodeId, ref(params), 'restart')),
    'containers.delete': async ({ team, actor, params }) =>
      void (await deleteContainer(app, { team, actor }, params.nodeId, ref(params))),
    'containers.inspect': ({ team, params }) => inspectContainer(app, team, params.nodeId, ref(params)),
    'containers.log': ({ team, params, query }) => readLog(app, team, params.nodeId, ref(params), query.take),
    'containers.download-log': async ({ team, params, reply }) => {
      const container = ref(params)
      const log = await downloadLog(app, team, params.nodeId, container, reply.onClose)
      reply.header('content-disposition', `attachment; filename="${fileName(container)}"`)
      return log
    },
  }
}

const toTarget = (params: { nodeId: string; prefix: string }) => ({
  nodeId: params.nodeId,
  prefix: prefixOf(params.prefix),
})
const ref = (params: Named) => ({ prefix: prefixOf(params.prefix), name: params.name })
