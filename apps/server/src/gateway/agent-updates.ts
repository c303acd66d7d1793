import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import type { ReportUpdateRequest, TakeOverRequest } from '@crux/agent-protocol'
import { UpdateStage, UpdateState } from '@crux/agent-protocol'
import { CruxError } from '@crux/contract'
import { createRounds, isUuid } from '@crux/service-kit'
import { bearerToken, hashToken } from '../access/index.ts'
import type { App } from '../context.ts'
import {
  failOverdue,
  findUpdateByPreviousToken,
  findUpdateInProgress,
  openAgentImage,
  reportUpdate,
  takeOver,
} from '../nodes/index.ts'
import { checkInfo, failureSentence } from './agent-answers.ts'
import { unauthenticated } from './call-authentication.ts'
import type { LinkTable } from './node-links.ts'
import type { TokenOwner } from './token-store.ts'

const checkMs = 5_000

type Authenticate = (context: HandlerContext) => Promise<Pick<TokenOwner, 'nodeId'>>

/** The calls of both agents of an update. All state is in the database, so that any process may answer them. */
export function createUpdateCalls(app: App, authenticate: Authenticate) {
  /** The old agent of a completed update asks with a token that is not valid for anything else. */
  async function isReplaced(context: HandlerContext, id: string): Promise<boolean> {
    const token = bearerToken(context.requestHeader.get('authorization'))
    return (
      token !== undefined && (await findUpdateByPreviousToken(app.database.pool, id, hashToken(token))) !== undefined
    )
  }

  return {
    async report(request: ReportUpdateRequest, context: HandlerContext) {
      const { updateId: id, stage, error } = request
      if (!isUuid(id)) throw new ConnectError('the id of an update is a UUID', Code.InvalidArgument)
      if (await isReplaced(context, id)) return { state: UpdateState.COMPLETED }
      const { nodeId } = await authenticate(context)
      const state = await reportUpdate(
        app,
        { nodeId, id },
        {
          closed: stage === UpdateStage.CLOSED,
          restarted: stage === UpdateStage.RESTARTED,
          error: failureSentence(error),
        },
      )
      return { state }
    },
    async takeOver({ updateId: id, info, previousEnded }: TakeOverRequest, context: HandlerContext) {
      const token = bearerToken(context.requestHeader.get('authorization'))
      if (!token || !info || !isUuid(id)) throw unauthenticated()
      const state = await takeOver(app, { id, tokenHash: hashToken(token), info: checkInfo(info), previousEnded })
      if (state === undefined) throw unauthenticated()
      return { state }
    },
    async *download({ architecture }: { architecture: string }, context: HandlerContext) {
      await authenticate(context)
      try {
        const { bytes } = await openAgentImage(app, architecture.slice(0, 32))
        for await (const chunk of bytes) yield { chunk }
      } catch (cause) {
        if (!(cause instanceof CruxError)) throw cause
        throw new ConnectError(cause.message, Code.FailedPrecondition, undefined, undefined, cause)
      }
    },
  }
}

/**
 * Sends the commands of updates over the links of this process, keeps releases back while an update is in progress, and
 * enforces the deadlines of all nodes.
 */
export function createUpdateRounds(app: App, links: LinkTable) {
  const rounds = createRounds({
    intervalMs: checkMs,
    async round() {
      await failOverdue(app)
      // Messages of other processes may have been missed.
      for (const link of links.all()) if (link.updating) await check(link.agent.nodeId)
    },
    failed: (err) => app.log.warn({ err }, 'updates of agents were not checked'),
  })

  /** Brings the link of a node in step with its update. Called for a new link, and when something changed. */
  async function check(nodeId: string): Promise<void> {
    const link = links.get(nodeId)
    if (!link?.welcomed || link.ended) return
    const update = await findUpdateInProgress(app, nodeId)
    // Another update may have started before the end of the last one was noticed here.
    if (update && update.id !== link.updateId) {
      link.updateId = update.id
      if (update.command) link.sendUpdate(update.command)
    } else if (!update && link.updating) {
      link.updateId = undefined
      // What was started meanwhile waits for its dispatch.
      app.bus.publish({ type: 'node.work', nodeId })
    }
  }

  return {
    check(nodeId: string) {
      return check(nodeId).catch((err: unknown) =>
        app.log.warn({ err, nodeId }, 'an update of an agent was not checked'),
      )
    },
    start: rounds.start,
    stop: rounds.stop,
  }
}
