import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { create } from '@bufbuild/protobuf'
import { type AgentInfo, AgentInfoSchema } from '@crux/agent-protocol'
import { inBackground, type Logger } from '@crux/service-kit'
import { createCommands } from './commands/commands.ts'
import { pause } from './concurrency/pause.ts'
import { checkingMounts } from './engines/docker/client/check-mounts.ts'
import { openDockerDriver } from './engines/docker/client/driver.ts'
import type { Driver } from './engines/docker/containers/driver.ts'
import { createGate, type Gate } from './engines/docker/gate/gate.ts'
import { createGateKeeper, type GateKeeper } from './engines/docker/gate/keeper.ts'
import { openGateRunner } from './engines/docker/gate/runner.ts'
import { createImageClaims } from './engines/docker/images/claims.ts'
import { openFetchedImages } from './engines/docker/images/fetched.ts'
import { createRegistryDigests } from './engines/docker/images/registry-digests.ts'
import { createPrefixNetworks, type PrefixNetworks } from './engines/docker/networks/prefix-networks.ts'
import { createTeamNetworks } from './engines/docker/networks/team-networks.ts'
import { createBindSources } from './engines/docker/volumes/bind-sources.ts'
import { messageOf } from './errors/message-of.ts'
import { type DataDirectory, openDataDirectory } from './files/data-directory.ts'
import { openJournalDirectory } from './journal/journal.ts'
import { connectTo } from './link/client.ts'
import { openCredentials } from './link/credentials.ts'
import { openInstallTokenFile } from './link/install-token.ts'
import { type LinkEnd, runLink } from './link/link.ts'
import { openTokenStore } from './link/token-store.ts'
import { createLinkClock } from './releases/link-clock.ts'
import { createReleases } from './releases/releases.ts'
import { openNodeScope } from './scope/node-scope.ts'
import { openNodeKey } from './secrets/key.ts'
import type { AgentSettings } from './settings.ts'
import { version } from './version.ts'

export interface Agent {
  /** Resolves with the reason when the agent has nothing more to do. */
  ended: Promise<LinkEnd>
  /** Ends the link and leaves deployments to be resumed by the next process. */
  stop(): Promise<void>
}

/** The agent's own files are in a directory whose name no prefix can have: a prefix is a DNS label. */
const ownDirectory = '.agent'
/** The clean-up must not keep a process from ending, even when the engine is unavailable. */
const clearMs = 2_000

/**
 * Composes the agent and starts it. Waits for the engine before it connects.
 *
 * @throws NoTokenError when there is no token to connect with
 */
export async function startAgent(settings: AgentSettings, log: Logger): Promise<Agent> {
  const data = await openDataDirectory({ ...settings, log })
  try {
    return await startIn(data, settings, log)
  } catch (error) {
    await data.close()
    throw error
  }
}

async function startIn(data: DataDirectory, settings: AgentSettings, log: Logger): Promise<Agent> {
  const own = await data.ownDirectory(ownDirectory)
  const stopping = new AbortController()

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
  const client = connection.clientFor(() => credentials.token())
  const key = await openNodeKey(own)

  let driver: Driver | undefined
  let releases: ReturnType<typeof createReleases> | undefined
  let networks: PrefixNetworks | undefined
  let gate: Gate | undefined
  const digests = createRegistryDigests()
  let keeper: GateKeeper | undefined

  async function run(): Promise<LinkEnd> {
    const opened = await openDriver(settings, log, stopping.signal)
    if (!opened) return 'stopped'
    driver = opened
    const ownContainer = await opened.ownContainer()
    const seesHost = ownContainer === '' && settings.dockerHost.startsWith('unix:')
    const sources = createBindSources(data, { seesHost })
    driver = checkingMounts(opened, sources.check)
    const engine = await driver.describe()
    const clock = createLinkClock()
    // The gate is a process of its own, so a path through a file handle of this process leads nowhere for it.
    const gateDirectory = join(settings.dataDir, ownDirectory, 'gate')
    await data.ownDirectory(ownDirectory, 'gate')
    const holding = createGate({
      directory: gateDirectory,
      runner: await openGateRunner({ directory: gateDirectory, settings, engine: driver.engine, ownContainer }),
      log,
      onLost: () => {
        log.warn('the gate ended: starting it again')
        // The gate restores the ports that it held, also for a release in progress; then everything is reconciled.
        holding
          .apply([], [])
          .catch((error) => log.warn({ reason: messageOf(error) }, 'the gate did not come up again'))
          .then(() => keeper?.sync())
      },
    })
    gate = holding
    const images = {
      claims: createImageClaims(),
      fetched: await openFetchedImages(join(own, 'fetched-images.json'), driver.engine),
      digests,
    }
    const scope = await openNodeScope({
      path: join(own, 'deleted-nodes.json'),
      nodeId: () => credentials.nodeId(),
      onChange() {
        inBackground('keeping the gate in step', () => keeper?.sync())
        void teamNetworks.removeUnused()
      },
      log,
    })
    const teamNetworks = createTeamNetworks({ engine: driver.engine, scope, log })
    const working = createReleases({
      context: {
        driver,
        gate: holding,
        teamNetworks,
        nodeEnvironment: {
          dataMountPath: settings.dataMountPath,
          rootDomain: settings.rootDomain,
          serverUrl: settings.server,
          seesHost,
        },
        data,
        sources,
        decrypt: key.decrypt,
        clock,
        images,
        log,
      },
      journals: openJournalDirectory(await data.ownDirectory(ownDirectory, 'journal')),
      client,
      onEnded(prefix) {
        keeper?.released(prefix)
        void teamNetworks.removeUnused()
      },
      log,
    })
    releases = working
    await working.resume()
    keeper = createGateKeeper({
      driver,
      gate: holding,
      scope,
      isBusy: working.isBusy,
      log,
    })
    inBackground('keeping the gate in step', () => keeper?.sync())
    const prepared = createPrefixNetworks({
      engine: driver.engine,
      nodeId: () => credentials.nodeId(),
      isBusy: working.isBusy,
      team: teamNetworks,
      log,
    })
    networks = prepared
    const sessionId = randomUUID()
    const describe = (): AgentInfo =>
      create(AgentInfoSchema, {
        nodeId: credentials.nodeId(),
        version,
        publicKey: key.publicKey,
        containerName: ownContainer,
        engine: engine.kind,
        engineVersion: engine.version,
        operatingSystem: engine.operatingSystem,
        architecture: engine.architecture,
        sessionId,
        openReleases: working.openKeys(),
      })
    const end = await runLink({
      connection,
      client,
      credentials,
      describe,
      async onUp({ positions, scope: said }, agentInfo) {
        await working.linkUp(positions, agentInfo.openReleases)
        if (said) scope.learn(said)
        inBackground('unused networks', prepared.sweep)
        inBackground('keeping the gate in step', () => keeper?.sync())
      },
      onDown: () => working.linkDown(),
      openSession: createCommands({
        driver,
        client,
        credentials,
        releases: working,
        networks: prepared,
        gate: holding,
        scope,
        images,
        log,
      }),
      log,
      signal: stopping.signal,
    })
    if (end === 'revoked' || end === 'refused') await credentials.forget()
    return end
  }

  async function finish(): Promise<void> {
    stopping.abort()
    keeper?.close()
    await releases?.stop()
    gate?.close()
    digests.close()
    if (networks) await Promise.race([networks.clear(), delay(clearMs, undefined, { ref: false })])
    connection.reset()
    driver?.close()
    await data.close()
  }

  const ended = run().finally(finish)
  return {
    ended,
    async stop() {
      stopping.abort()
      await ended.catch(() => undefined)
    },
  }
}

/** Tries until the engine answers or the agent is stopped. */
async function openDriver(settings: AgentSettings, log: Logger, signal: AbortSignal): Promise<Driver | undefined> {
  let agentInfo = ''
  for (let waitMs = 250; !signal.aborted; waitMs = Math.min(5_000, waitMs * 2)) {
    try {
      return await openDockerDriver(settings.dockerHost, log)
    } catch (error) {
      const reason = messageOf(error)
      if (reason !== agentInfo) log.warn({ reason, dockerHost: settings.dockerHost }, 'waiting for the Docker engine')
      agentInfo = reason
      await pause(waitMs, signal).catch(() => undefined)
    }
  }
  return undefined
}
