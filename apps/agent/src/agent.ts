import { randomUUID } from 'node:crypto'
import { create } from '@bufbuild/protobuf'
import { type AgentInfo, AgentInfoSchema } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import { createCommands } from './commands/commands.ts'
import { openDockerEngine } from './engines/docker/docker-engine.ts'
import type { Engine } from './engines/engine.ts'
import { type DataDirectory, openDataDirectory } from './files/data-directory.ts'
import { openJournalDirectory } from './journal/journal.ts'
import { connectTo, type ServerConnection } from './link/client.ts'
import { type Credentials, openCredentials } from './link/credentials.ts'
import { type LinkEnd, runLink } from './link/link.ts'
import { openInstallTokenFile, openTokenStore } from './link/token-store.ts'
import { Releases } from './releases/releases.ts'
import { openNodeScope } from './scope/node-scope.ts'
import { type NodeKey, openNodeKey } from './secrets/key.ts'
import type { AgentSettings } from './settings.ts'
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
  log: Logger
}

/** What is closed when the agent ends, as far as it was opened. */
interface Opened {
  engine?: Engine
  releases?: Releases
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
  const credentials = await openCredentials({
    store: openTokenStore(own),
    server: settings.server,
    nodeId: settings.nodeId,
    installToken: settings.token ?? (await installTokenFile.read()),
    installTokenUsed: installTokenFile.remove,
    clientFor: connection.clientFor,
    log,
  })
  return { settings, data, own, connection, credentials, key: await openNodeKey(own), log }
}

async function run(core: Core, opened: Opened, signal: AbortSignal): Promise<LinkEnd> {
  const { connection, credentials, data, key, log, own, settings } = core
  const client = connection.clientFor(() => credentials.token())
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
  const end = await runLink({
    connection,
    client,
    credentials,
    describe: () => describe(core, engine, { sessionId, openReleases: releases.openKeys() }),
    async onUp({ positions, scope: newScope }, { openReleases }) {
      await releases.linkUp(positions, openReleases)
      if (newScope) scope.learn(newScope)
      engine.reconcile()
    },
    onDown: () => releases.linkDown(),
    openSession: createCommands({ engine, client, credentials, releases, scope, log }),
    log,
    signal,
  })
  if (end === 'revoked' || end === 'refused') await credentials.forget()
  return end
}

function describe(
  { credentials, key }: Core,
  { description }: Engine,
  session: Pick<AgentInfo, 'sessionId' | 'openReleases'>,
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

async function close({ connection, data }: Core, { engine, releases }: Opened): Promise<void> {
  await releases?.stop()
  await engine?.close()
  connection.reset()
  await data.close()
}
