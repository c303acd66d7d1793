import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { create } from '@bufbuild/protobuf'
import { type AgentInfo, AgentInfoSchema } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import { createCommands } from './commands/commands.ts'
import { pause } from './concurrency/pause.ts'
import { openAgentContainers, openDockerEngine } from './engines/docker/docker-engine.ts'
import type { AgentContainers, Engine } from './engines/engine.ts'
import { getMessage } from './errors.ts'
import { type DataDirectory, openDataDirectory } from './files/data-directory.ts'
import { openJournals } from './journal/journal.ts'
import { type AgentClient, connectTo, type ServerConnection } from './link/client.ts'
import { type Credentials, openCredentials } from './link/credentials.ts'
import { type LinkEnd, runLink } from './link/link.ts'
import { openInstallToken, openTokenStore } from './link/token-store.ts'
import { Releases } from './releases/releases.ts'
import { type NodeScope, openNodeScope } from './scope/node-scope.ts'
import { type NodeKey, openNodeKey } from './secrets/key.ts'
import type { AgentSettings } from './settings.ts'
import type { AgentState } from './state/agent-state.ts'
import { openFileState } from './state/file-state.ts'
import type { LeaderElection, Leadership } from './state/leader-election.ts'
import { openUpdateFile, type UpdateFile } from './update/update-file.ts'
import { createUpdates } from './update/updates.ts'
import { version } from './version.ts'

export interface Agent {
  /** Resolves with the reason when the agent has nothing more to do. */
  ended: Promise<LinkEnd>
  /** Ends the link and leaves deployments to be resumed by the next process. */
  stop(): Promise<void>
}

/** Where the agent keeps its state: the data directory, or the cluster whose pod it runs in. */
type Home =
  | { kind: 'directory'; data: DataDirectory; state: AgentState }
  | {
      kind: 'cluster'
      /** Of the agent's own objects; no release is deployed to it. */
      namespace: string
      election: LeaderElection
      open(signal: AbortSignal, leadership: Leadership): AgentState
      close(): void
    }

/** What the agent opens before it waits for an engine. */
interface Core {
  settings: AgentSettings
  home: Home
  state: AgentState
  /** Undefined where only one process can work. */
  leadership: Leadership | undefined
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
 * Composes the agent and starts it. Waits for the engine before it connects, and in a cluster for its turn.
 *
 * @throws NoTokenError when there is no token to connect with
 */
export async function startAgent(settings: AgentSettings, log: Logger): Promise<Agent> {
  const home = await openHome(settings, log)
  try {
    const stopping = new AbortController()
    const work =
      home.kind === 'cluster'
        ? workInTurn(home, settings, log, stopping.signal)
        : workOnce(await openCore({ settings, home, state: home.state, log }), stopping.signal)
    const ended = work.finally(() => {
      stopping.abort()
      return home.kind === 'cluster' ? home.close() : home.data.close()
    })
    return {
      ended,
      async stop() {
        stopping.abort()
        await ended.catch(() => undefined)
      },
    }
  } catch (error) {
    if (home.kind === 'directory') await home.data.close()
    throw error
  }
}

async function openHome(settings: AgentSettings, log: Logger): Promise<Home> {
  const { cluster } = settings
  if (cluster && (cluster.kubeconfig === undefined || cluster.stateNamespace !== undefined)) {
    const { openClusterState } = await import('./engines/kubernetes/state/cluster-state.ts')
    return { kind: 'cluster', ...(await openClusterState(cluster, log)) }
  }
  const data = await openDataDirectory({ ...settings, log })
  try {
    return { kind: 'directory', data, state: await openFileState(data) }
  } catch (error) {
    await data.close()
    throw error
  }
}

/** Works whenever it is this process's turn. Everything is opened again for each: another process may have changed it meanwhile. */
async function workInTurn(
  home: Home & { kind: 'cluster' },
  settings: AgentSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<LinkEnd> {
  while (!signal.aborted) {
    const leadership = await home.election.acquire(signal)
    if (!leadership) break
    const { lost } = leadership
    const turn = AbortSignal.any([signal, lost])
    try {
      const core = await openCore({ settings, home, state: home.open(turn, leadership), leadership, log })
      const end = await workOnce(core, turn, lost)
      if (!lost.aborted) return end
    } catch (error) {
      if (signal.aborted) break
      if (!lost.aborted) throw error
    } finally {
      await leadership.release()
    }
  }
  return 'stopped'
}

/** @param lost aborts when the end must not take long, because another process works soon */
async function workOnce(core: Core, signal: AbortSignal, lost?: AbortSignal): Promise<LinkEnd> {
  const ending = new AbortController()
  const opened: Opened = {}
  try {
    return await run(core, opened, AbortSignal.any([signal, ending.signal]))
  } finally {
    ending.abort()
    await closeServing(core, opened, lost?.aborted ? lostStopMs : undefined)
    opened.containers?.close()
  }
}
/** Less than what is left of a lease when it counts as lost. */
const lostStopMs = 3_000

async function openCore(
  given: Pick<Core, 'settings' | 'home' | 'state' | 'log'> & { leadership?: Leadership },
): Promise<Core> {
  const { leadership, log, settings, state } = given
  const { records } = state
  const connection = connectTo(settings.server)
  const installToken = openInstallToken(records)
  const update = await openUpdateFile(records).read()
  const isSuccessor = update !== undefined && update.token !== '' && update.id === settings.updateId
  const credentials = await openCredentials({
    store: openTokenStore(records),
    server: settings.server,
    nodeId: isSuccessor ? update.nodeId : settings.nodeId,
    installToken: settings.token ?? (await installToken.read()),
    updateToken: isSuccessor ? update.token : undefined,
    installTokenUsed: installToken.remove,
    clientFor: connection.clientFor,
    log,
  })
  return { ...given, leadership, connection, credentials, key: await openNodeKey(records), update, isSuccessor }
}

/** Serves the node, and hands it over where the server wants an update (docs/agent-update.md). */
async function run(core: Core, opened: Opened, signal: AbortSignal): Promise<LinkEnd> {
  const { connection, credentials, isSuccessor, key, log, settings, state, update } = core
  // An agent in a cluster is updated by the cluster.
  const containers = settings.cluster ? undefined : await waitForContainers(settings.dockerHost, log, signal)
  if (signal.aborted) return 'stopped'
  opened.containers = containers
  const client = connection.clientFor(() => credentials.token())
  const updates = createUpdates({
    file: openUpdateFile(state.records),
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
  const { connection, credentials, log, state, update } = core
  const { client, updates, signal } = serving
  const nodeId = () => credentials.nodeId()
  const scope = await openNodeScope({
    records: state.records,
    nodeId,
    onChange: () => opened.engine?.reconcile(),
    log,
  })
  const engine = await openEngine(core, { scope, nodeId, signal })
  if (!engine) return 'stopped'
  opened.engine = engine
  const journals = openJournals(state.journals)
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

/** The one place that chooses an engine: all else knows it by the interface. @returns undefined when the signal aborts before it answers */
async function openEngine(
  { home, key, leadership, log, settings, state }: Core,
  { scope, nodeId, signal }: { scope: NodeScope; nodeId: () => string; signal: AbortSignal },
): Promise<Engine | undefined> {
  const { decrypt } = key
  if (!settings.cluster) {
    if (home.kind !== 'directory') throw new Error('an agent on Docker has a data directory')
    return openDockerEngine({ settings, data: home.data, scope, nodeId, decrypt, log, signal })
  }
  // Loaded only here: the libraries of an engine that a node does not have would cost it memory.
  const { openKubernetesEngine } = await import('./engines/kubernetes/kubernetes-engine.ts')
  const { cluster, rootDomain, server: serverUrl } = settings
  const ownNamespace = home.kind === 'cluster' ? home.namespace : undefined
  const { records } = state
  // As Node itself does it: a file that is not there changes nothing.
  const authority = cluster.authorityFile && (await readFile(cluster.authorityFile, 'utf8').catch(() => undefined))
  return openKubernetesEngine({
    ...cluster,
    authority,
    ownNamespace,
    rootDomain,
    serverUrl,
    records,
    mayChange: () => leadership?.isHeld() ?? true,
    decrypt,
    log,
    signal,
  })
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
async function closeServing({ connection }: Core, opened: Opened, stopMs?: number): Promise<void> {
  await opened.releases?.stop(stopMs)
  await opened.engine?.close()
  opened.releases = undefined
  opened.engine = undefined
  connection.reset()
}
