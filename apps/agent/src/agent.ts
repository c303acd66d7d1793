import { randomUUID } from 'node:crypto'
import { create } from '@bufbuild/protobuf'
import { type AgentInfo, AgentInfoSchema } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import { createCommands } from './commands/commands.ts'
import { pause } from './concurrency/pause.ts'
import { openAgentContainers, openDockerEngine } from './engines/docker/docker-engine.ts'
import type { AgentContainers, Engine } from './engines/engine.ts'
import { getMessage } from './errors.ts'
import { type DataDirectory, openDataDirectory } from './files/data-directory.ts'
import { openJournalDirectory } from './journal/journal.ts'
import { type AgentClient, connectTo, type ServerConnection } from './link/client.ts'
import { type Credentials, openCredentials } from './link/credentials.ts'
import { type LinkEnd, runLink } from './link/link.ts'
import { openInstallTokenFile, openTokenStore } from './link/token-store.ts'
import { Releases } from './releases/releases.ts'
import { openNodeScope } from './scope/node-scope.ts'
import { type NodeKey, openNodeKey } from './secrets/key.ts'
import type { AgentSettings } from './settings.ts'
import { openUpdateFile, type UpdateFile } from './update/update-file.ts'
import { createUpdates } from './update/updates.ts'
import { version } from './version.ts'

export interface Agent {
  /** Resolves with the reason when the agent has nothing more to do. */
  ended: Promise<LinkEnd>
  /** Ends the link and leaves deployments to be resumed by the next process. */
  stop(): Promise<void>
}

/** What the agent opens before it waits for an engine. */
interface Core {
  settings: AgentSettings
  data: DataDirectory
  /** The directory of the agent's own files. */
  own: string
  connection: ServerConnection
  credentials: Credentials
  key: NodeKey
  /** As an earlier process, or the agent that this one replaces, left it. */
  update: UpdateFile | undefined
  /** Whether this agent was started to replace another one, and has not been accepted yet. */
  isSuccessor: boolean
  log: Logger
}

/** What is closed when the agent ends, as far as it was opened. */
interface Opened {
  engine?: Engine | undefined
  releases?: Releases | undefined
  /** Undefined also outside of a container. */
  containers?: AgentContainers | undefined
}

/**
 * Composes the agent and starts it. Waits for the engine before it connects.
 *
 * @throws NoTokenError when there is no token to connect with
 */
export async function startAgent(settings: AgentSettings, log: Logger): Promise<Agent> {
  const data = await openDataDirectory({ ...settings, log })
  try {
    const core = await openCore(settings, data, log)
    const stopping = new AbortController()
    const opened: Opened = {}
    const ended = run(core, opened, stopping.signal).finally(() => {
      stopping.abort()
      return close(core, opened)
    })
    return {
      ended,
      async stop() {
        stopping.abort()
        await ended.catch(() => undefined)
      },
    }
  } catch (error) {
    await data.close()
    throw error
  }
}

async function openCore(settings: AgentSettings, data: DataDirectory, log: Logger): Promise<Core> {
  const own = await data.ownDirectory()
  const connection = connectTo(settings.server)
  const installTokenFile = openInstallTokenFile(own)
  const update = await openUpdateFile(own).read()
  const isSuccessor = update !== undefined && update.token !== '' && update.id === settings.updateId
  const credentials = await openCredentials({
    store: openTokenStore(own),
    server: settings.server,
    nodeId: isSuccessor ? update.nodeId : settings.nodeId,
    installToken: settings.token ?? (await installTokenFile.read()),
    updateToken: isSuccessor ? update.token : undefined,
    installTokenUsed: installTokenFile.remove,
    clientFor: connection.clientFor,
    log,
  })
  return { settings, data, own, connection, credentials, key: await openNodeKey(own), update, isSuccessor, log }
}

/** Serves the node, and hands it over where the server wants an update (docs/agent-update.md). */
async function run(core: Core, opened: Opened, signal: AbortSignal): Promise<LinkEnd> {
  const { connection, credentials, isSuccessor, key, log, own, settings, update } = core
  const containers = await waitForContainers(settings.dockerHost, log, signal)
  if (signal.aborted) return 'stopped'
  opened.containers = containers
  const client = connection.clientFor(() => credentials.token())
  const updates = createUpdates({
    file: openUpdateFile(own),
    containers,
    client,
    nodeId: () => credentials.nodeId(),
    architecture: process.arch,
    log,
    signal,
  })
  try {
    if (update && isSuccessor) {
      const info = { nodeId: update.nodeId, version, publicKey: key.publicKey, updatable: true }
      if (!(await updates.awaitTurn(update, info))) return 'update-failed'
    } else if (update && (update.token !== '' || containers?.own.id === update.previous.id)) {
      const end = await updates.recover(update)
      if (end !== 'continues') return end
    }
    for (let isFirst = true; ; isFirst = false) {
      const end = await serve(core, opened, { client, updates, isFirst, signal })
      if (end !== 'replaced') return end
      await closeServing(core, opened)
      const result = await updates.finish()
      if (result !== 'continues') return result
    }
  } catch (error) {
    if (signal.aborted) return 'stopped'
    throw error
  }
}

interface Serving {
  client: AgentClient
  updates: ReturnType<typeof createUpdates>
  /** Whether no link of this process was up before. */
  isFirst: boolean
  signal: AbortSignal
}

async function serve(core: Core, opened: Opened, serving: Serving): Promise<LinkEnd | 'replaced'> {
  const { connection, credentials, data, key, log, own, settings, update } = core
  const { client, updates, signal } = serving
  const nodeId = () => credentials.nodeId()
  const scope = await openNodeScope({
    path: `${own}/deleted-nodes.json`,
    nodeId,
    onChange: () => opened.engine?.reconcile(),
    log,
  })
  // The one place that chooses an engine: all else knows it by the interface.
  const engine = await openDockerEngine({ settings, data, scope, nodeId, decrypt: key.decrypt, log, signal })
  if (!engine) return 'stopped'
  opened.engine = engine
  const journals = openJournalDirectory(await data.ownDirectory('journal'))
  const releases = new Releases({ engine, journals, client, log })
  opened.releases = releases
  await releases.resume()
  engine.startUpkeep(releases.isBusy)
  const sessionId = randomUUID()
  /** Ends the link and closes the journal, so that the new agent of an update can open it. */
  const replacing = new AbortController()
  /** An update by which this agent has replaced another one, until the first link is up. */
  let isCompleting = serving.isFirst && update !== undefined && update.previous.id !== opened.containers?.own.id
  const end = await runLink({
    connection,
    client,
    credentials,
    describe: () =>
      describe(core, engine, {
        sessionId,
        openReleases: releases.openKeys(),
        updatable: opened.containers !== undefined,
      }),
    async onUp({ positions, scope: newScope }, { openReleases }) {
      if (update && isCompleting) updates.takenOver(update)
      isCompleting = false
      await releases.linkUp(positions, openReleases)
      if (newScope) scope.learn(newScope)
      engine.reconcile()
    },
    onDown: () => releases.linkDown(),
    openSession: createCommands({
      engine,
      client,
      credentials,
      releases,
      scope,
      update: (command) => updates.start(command, () => replacing.abort()),
      log,
    }),
    log,
    signal: AbortSignal.any([signal, replacing.signal]),
  })
  if (end === 'stopped' && replacing.signal.aborted && !signal.aborted) return 'replaced'
  if (end === 'revoked' || end === 'refused') await credentials.forget()
  return end
}

/** A container of an agent that is to be replaced is found on the engine, so the agent waits for it. */
async function waitForContainers(
  dockerHost: string,
  log: Logger,
  signal: AbortSignal,
): Promise<AgentContainers | undefined> {
  while (!signal.aborted) {
    try {
      return await openAgentContainers(dockerHost)
    } catch (error) {
      log.warn({ reason: getMessage(error), dockerHost }, 'waiting for the Docker engine')
      await pause(engineRetryMs, signal).catch(() => undefined)
    }
  }
  return undefined
}
const engineRetryMs = 1_000

function describe(
  { credentials, key }: Core,
  { description }: Engine,
  session: Pick<AgentInfo, 'sessionId' | 'openReleases' | 'updatable'>,
): AgentInfo {
  return create(AgentInfoSchema, {
    nodeId: credentials.nodeId(),
    version,
    publicKey: key.publicKey,
    containerName: description.ownContainer,
    engine: description.kind,
    engineVersion: description.version,
    operatingSystem: description.operatingSystem,
    architecture: description.architecture,
    ...session,
  })
}

/** Closes what the journal and the engine hold open. The process may serve the node again. */
async function closeServing({ connection }: Core, opened: Opened): Promise<void> {
  await opened.releases?.stop()
  await opened.engine?.close()
  opened.releases = undefined
  opened.engine = undefined
  connection.reset()
}

async function close(core: Core, opened: Opened): Promise<void> {
  await closeServing(core, opened)
  opened.containers?.close()
  await core.data.close()
}
