import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inBackground, type Logger } from '@crux/service-kit'
import { KeyedLock } from '../../concurrency/keyed-lock.ts'
import { pause } from '../../concurrency/pause.ts'
import { EngineError, getMessage } from '../../errors.ts'
import { type DataDirectory, ownDirectoryName } from '../../files/data-directory.ts'
import type { NodeScope } from '../../scope/node-scope.ts'
import type { Engine, EngineDescription } from '../engine.ts'
import { RegistryDigests } from '../images/registry-digests.ts'
import { getOwner, isOwnedBy } from '../labels.ts'
import { previousContainersRun } from './apply/put-back.ts'
import type { DockerNode } from './apply/release-context.ts'
import { runRelease } from './apply/run-release.ts'
import { checkingMounts } from './client/check-mounts.ts'
import { openDockerDriver } from './client/driver.ts'
import type { Driver } from './containers/container-engine.ts'
import { Gate } from './gate/gate.ts'
import { GateKeeper } from './gate/keeper.ts'
import { findPortHolders } from './gate/port-holders.ts'
import { openGateRunner } from './gate/runner.ts'
import { createImageClaims } from './images/claims.ts'
import { openFetchedImages } from './images/fetched.ts'
import { listImages, removeImages } from './images/image-store.ts'
import { createPrefixNetworks, type PrefixNetworks } from './networks/prefix-networks.ts'
import { createTeamNetworks } from './networks/team-networks.ts'
import { createBindSources } from './volumes/bind-sources.ts'

export { openAgentContainers } from './client/agent-containers.ts'

export interface DockerEngineOptions {
  settings: {
    dockerHost: string
    dataDir: string
    dataMountPath: string
    rootDomain: string | undefined
    /** Address of the server, for containers. */
    server: string
  }
  data: DataDirectory
  scope: NodeScope
  nodeId: () => string
  decrypt: (message: string) => Promise<string>
  log: Logger
  /** Ends the wait for an engine that does not answer. */
  signal: AbortSignal
}

/** What runs beside releases, from `startUpkeep` on. */
interface Maintenance {
  keeper: GateKeeper
  networks: PrefixNetworks
}

/** The clean-up must not keep a process from ending, even when the engine is unavailable. */
const clearMs = 2_000

/** Waits until Docker answers. @returns undefined when the signal aborts before */
export async function openDockerEngine(options: DockerEngineOptions): Promise<Engine | undefined> {
  const opened = await openDriver(options)
  if (!opened) return undefined
  try {
    const description = await opened.describe()
    return await createDockerEngine(opened, description, options)
  } catch (error) {
    opened.close()
    throw error
  }
}

async function createDockerEngine(
  opened: Driver,
  description: EngineDescription,
  options: DockerEngineOptions,
): Promise<Engine> {
  const { log, nodeId, scope } = options
  let maintenance: Maintenance | undefined
  const node = await openNode(opened, description, options, () => maintenance?.keeper.sync())
  const { driver, gate, images, teamNetworks } = node
  const { engine, ...view } = driver
  const syncGate = () => inBackground('keeping the gate in step', () => maintenance?.keeper.sync())
  return {
    ...view,
    description,
    async remove(id) {
      const owner = getOwner((await engine.observe(id)).labels)
      await driver.remove(id)
      if (owner) await maintenance?.networks.release(owner)
    },
    async removeAllOf(owner) {
      const owned = (await engine.observeAll()).filter(({ labels }) => isOwnedBy(labels, owner))
      const results = await Promise.allSettled(owned.map(({ id }) => driver.remove(id)))
      // The networks of a prefix are removed with its last container; a machine has room for few bridges.
      const owners = [owner, ...owned.flatMap(({ labels }) => getOwner(labels) ?? [])]
      for (const one of new Map(owners.map((each) => [each.nodeId, each])).values())
        await maintenance?.networks.release(one)
      const failed = results.find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
    },
    listImages: (forScope) => listImages(engine, images.fetched, forScope),
    removeImages: (ids) => removeImages(engine, images, ids),
    findDrift: async () => {
      throw new EngineError('refused', 'Only objects of a cluster are compared with their release')
    },
    listMachines: async () => {
      throw new EngineError('refused', 'Only a cluster has machines')
    },
    findPrefixData: refusePrefixData,
    deletePrefixData: refusePrefixData,
    findPortHolders: (request) => findPortHolders(engine, gate, request),
    prepareTarget: async (owner) => maintenance?.networks.prepare(owner),
    releaseTarget: async (owner) => maintenance?.networks.release(owner),
    applyRelease: (journal, control) => runRelease(journal, node, control),
    previousContainersRun: (release, signal) => previousContainersRun(engine, release, undefined, signal),
    startUpkeep(isBusy) {
      maintenance = {
        keeper: new GateKeeper({ driver, gate, scope, isBusy, log }),
        networks: createPrefixNetworks({ engine, nodeId, isBusy, team: teamNetworks, log }),
      }
      syncGate()
    },
    reconcile() {
      syncGate()
      inBackground('unused networks', () => maintenance?.networks.sweep())
    },
    releaseEnded(prefix) {
      maintenance?.keeper.released(prefix)
      void teamNetworks.removeUnused()
    },
    async close() {
      maintenance?.keeper.close()
      gate.close()
      images.digests.close()
      if (maintenance) await Promise.race([maintenance.networks.clear(), delay(clearMs, undefined, { ref: false })])
      driver.close()
    },
  }
}

/** @param onGateRestarted called when the gate has ended without a request and holds its ports again */
async function openNode(
  opened: Driver,
  { ownContainer }: EngineDescription,
  { data, decrypt, log, scope, settings }: DockerEngineOptions,
  onGateRestarted: () => Promise<void> | undefined,
): Promise<DockerNode> {
  const seesHost = ownContainer === '' && settings.dockerHost.startsWith('unix:')
  const sources = createBindSources(data, { seesHost })
  const driver = checkingMounts(opened, sources.check)
  const { engine } = driver
  await data.ownDirectory('gate')
  // The gate is a process of its own, so a path through a file handle of this process leads nowhere for it.
  const directory = join(settings.dataDir, ownDirectoryName, 'gate')
  const gate = new Gate({
    directory,
    runner: await openGateRunner({ directory, settings, engine, ownContainer }),
    log,
    onLost: () => {
      log.warn('the gate ended: starting it again')
      // The gate restores the ports that it held, also for a release in progress; then everything is reconciled.
      gate
        .apply([], [])
        .catch((error) => log.warn({ reason: getMessage(error) }, 'the gate did not come up again'))
        .then(onGateRestarted)
    },
  })
  const locks = new KeyedLock()
  const fetched = await openFetchedImages(join(await data.ownDirectory(), 'fetched-images.json'), engine)
  return {
    driver,
    gate,
    teamNetworks: createTeamNetworks({ engine, scope, log }),
    nodeEnvironment: {
      dataMountPath: settings.dataMountPath,
      rootDomain: settings.rootDomain,
      serverUrl: settings.server,
      seesHost,
    },
    data,
    sources,
    decrypt,
    images: { claims: createImageClaims(), fetched, digests: new RegistryDigests() },
    createLock: (key, work) => locks.run(key, work),
    log,
  }
}

async function refusePrefixData(): Promise<never> {
  throw new EngineError('refused', 'Only a cluster keeps claims and a namespace under a prefix')
}

/** Tries until the engine answers or the agent is stopped. */
async function openDriver({ settings, log, signal }: DockerEngineOptions): Promise<Driver | undefined> {
  const { dockerHost } = settings
  let lastReason = ''
  for (let waitMs = 250; !signal.aborted; waitMs = Math.min(5_000, waitMs * 2)) {
    try {
      return await openDockerDriver(dockerHost, log)
    } catch (error) {
      const reason = getMessage(error)
      if (reason !== lastReason) log.warn({ reason, dockerHost }, 'waiting for the Docker engine')
      lastReason = reason
      await pause(waitMs, signal).catch(() => undefined)
    }
  }
  return undefined
}
