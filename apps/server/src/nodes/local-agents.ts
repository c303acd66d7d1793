import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CruxError } from '@crux/contract'
import { isLoopbackOnly } from '../config/index.ts'
import type { App } from '../context.ts'
import { nodeChanged } from './events.ts'
import { issueInstallToken } from './install-token.ts'
import { type AgentEnd, AgentProcess, agentDataDir, engineAnswers } from './local-agent-process.ts'
import { deleteConnectionToken, hasUsedToken, isLocal, selectLocal, setLocal } from './store.ts'

type Availability = { available: boolean; reason: string | null }

/** "Use this machine": agents that this server runs and supervises. */
export interface LocalAgents {
  /** Whether a local agent can run here, and the reason if it cannot. */
  availability(): Promise<Availability>
  isRunning(nodeId: string): boolean
  lastEnd(nodeId: string): AgentEnd | undefined
  /** @throws CruxError preconditionFailed when it cannot run here, alreadyExists when the node has an agent elsewhere */
  launch(row: { id: string; teamId: string; linked: boolean }, userId: string): Promise<void>
  /** Ends the agent and removes the record that this machine runs it; its data is kept. */
  dismiss(nodeId: string): Promise<void>
  /** Starts the agents of nodes that had one. Call once the server listens. */
  start(): Promise<void>
  /** Ends the agents, never their containers. */
  stop(): Promise<void>
}

const engineCheckMs = 5_000

export function createLocalAgents(app: App): LocalAgents {
  const processes = new Map<string, AgentProcess>()
  let engine: { at: number; answers: Promise<boolean> } | undefined
  let stopped = false

  async function availability(): Promise<Availability> {
    const no = (reason: string) => ({ available: false, reason })
    if (!app.config.embedded) return no('Only a console that was started with npm start can use its own machine.')
    if (!isLoopbackOnly(app.config)) return no('Only while the console is reachable from this machine alone.')
    if (!engine || Date.now() - engine.at > engineCheckMs) engine = { at: Date.now(), answers: engineAnswers() }
    return (await engine.answers) ? { available: true, reason: null } : no('No Docker answers on this machine.')
  }

  function run(nodeId: string, teamId: string, userId: string) {
    if (stopped || processes.get(nodeId)?.running) return
    processes.set(
      nodeId,
      new AgentProcess({
        config: app.config,
        nodeId,
        log: app.log,
        token: (sameAddress) => tokenFor(app, { nodeId, userId, sameAddress }),
        isWanted: () => isWanted(app, nodeId),
        changed: () => nodeChanged(app, { teamId, nodeId }),
      }),
    )
  }

  async function forget(nodeId: string) {
    processes.delete(nodeId)
    await setLocal(app, nodeId, false)
  }

  return {
    availability,
    isRunning: (nodeId) => processes.get(nodeId)?.running ?? false,
    lastEnd: (nodeId) => processes.get(nodeId)?.lastEnd,
    async launch(row, userId) {
      const { available, reason } = await availability()
      if (!available)
        throw new CruxError('preconditionFailed', { property: 'localAgent', description: reason ?? undefined })
      if (row.linked || processes.get(row.id)?.running) {
        throw new CruxError('alreadyExists', { property: 'id', description: 'This node has an agent already.' })
      }
      if ((await hasUsedToken(app, row.id)) && !existsSync(agentDataDir(app.config, row.id))) {
        throw new CruxError('alreadyExists', {
          property: 'id',
          description: 'The agent of this node was installed elsewhere: revoke its token first.',
        })
      }
      await setLocal(app, row.id, true)
      run(row.id, row.teamId, userId)
      nodeChanged(app, { teamId: row.teamId, nodeId: row.id })
    },
    async dismiss(nodeId) {
      const mine = processes.get(nodeId)
      await forget(nodeId)
      await mine?.stop()
    },
    async start() {
      if (!app.config.embedded || !isLoopbackOnly(app.config)) return
      for (const row of await selectLocal(app)) run(row.id, row.teamId, row.updatedBy)
    },
    async stop() {
      stopped = true
      await Promise.all([...processes.values()].map((process) => process.stop()))
    },
  }
}

/** An unavailable database is no evidence that the node was deleted. */
async function isWanted(app: App, nodeId: string): Promise<boolean> {
  try {
    return await isLocal(app, nodeId)
  } catch (err) {
    app.log.warn({ err, nodeId }, 'the node of the local agent was not read: the agent is started')
    return true
  }
}

/** An agent that exchanged its install token has its token in its directory, for the server's address at that time. */
async function tokenFor(
  app: App,
  { nodeId, userId, sameAddress }: { nodeId: string; userId: string; sameAddress: boolean },
): Promise<string | undefined> {
  // A refused agent has deleted its token, and would end at each start without a new one.
  const hasTokenFile = existsSync(join(agentDataDir(app.config, nodeId), '.agent', 'token.json'))
  if (sameAddress && hasTokenFile && (await hasUsedToken(app, nodeId))) return undefined
  await deleteConnectionToken(app, nodeId)
  return (await issueInstallToken(app, nodeId, userId, { scriptType: 'shell', options: {} })).token
}
