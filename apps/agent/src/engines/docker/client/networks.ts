import { writeFile } from 'node:fs/promises'
import type Docker from 'dockerode'
import { EngineError } from '../../../errors.ts'
import type { NetworkSpec, ObservedNetwork } from '../containers/container-engine.ts'
import { translate, translating, translatingIfThere } from './errors.ts'
import { freeBlocks, hostRoutes, parseBlock } from './network-addresses.ts'

const overlaps = /pool overlaps/i
/** Another process may take a block between the check and the call. */
const attemptsMax = 20

/**
 * Creates a bridge network if there is none of that name. It gets a small block of its own: the engine's pools hold some thirty networks
 * for all users of the machine, and a node has two for each prefix.
 *
 * @throws EngineError, also where a network of that name does not have the labels: joining it would connect containers with those of
 *   another owner
 */
export async function ensureNetwork(
  docker: Docker,
  network: NetworkSpec,
  options: { seesHost: boolean },
): Promise<void> {
  if (await alreadyOurs(docker, network)) return
  const all = await translating('list the networks', () => docker.listNetworks())
  const used = all.flatMap(({ IPAM }) => (IPAM?.Config ?? []).flatMap(({ Subnet }) => parseBlock(Subnet ?? '') ?? []))
  const routes = options.seesHost ? await hostRoutes() : []
  let attempts = 0
  for (const subnet of freeBlocks([...used, ...routes])) {
    if (++attempts > attemptsMax) break
    try {
      const created = await docker.createNetwork({
        Name: network.name,
        Driver: 'bridge',
        Internal: network.internal,
        Labels: network.labels,
        CheckDuplicate: true,
        IPAM: { Driver: 'default', Config: [{ Subnet: subnet }] },
      })
      await keepNeighbours(created.id)
      return
    } catch (error) {
      const known = translate(error, `create the network ${network.name}`)
      if (known.kind === 'conflict' && (await alreadyOurs(docker, network))) return
      if (!overlaps.test(known.message)) throw known
    }
  }
  throw new EngineError(
    'refused',
    `There is no address range left for the network ${network.name}: remove networks that are not used`,
  )
}

/** A request for one network is cheaper than a list of all. */
async function alreadyOurs(docker: Docker, { name, labels }: NetworkSpec): Promise<boolean> {
  type Found = { Id: string; Name: string; Labels?: Record<string, string> | null }
  const inspect = (): Promise<Found> => docker.getNetwork(name).inspect()
  const found = await translatingIfThere(`inspect the network ${name}`, inspect)
  // The engine also resolves the beginning of an id: only the name counts here.
  if (found?.Name !== name) return false
  if (!Object.entries(labels).every(([key, value]) => found.Labels?.[key] === value))
    throw new EngineError('refused', `the network ${name} exists already and was not made for this: remove it`)
  // A restart of the machine creates the bridge again, without this setting.
  await keepNeighbours(found.Id)
  return true
}

export async function findNetworks(docker: Docker, name: string): Promise<Pick<ObservedNetwork, 'name' | 'labels'>[]> {
  // The engine's filter also matches names that only contain this one.
  const found = await translating('list the networks', () => docker.listNetworks({ filters: { name: [name] } }))
  return found.filter(({ Name }) => Name === name).map(({ Name, Labels }) => ({ name: Name, labels: Labels ?? {} }))
}

export async function observeNetworks(docker: Docker, labelled: string): Promise<ObservedNetwork[]> {
  const [networks, containers] = await translating('list the networks', () =>
    Promise.all([
      docker.listNetworks({ filters: { label: [labelled] } }),
      docker.listContainers({ all: true, filters: { label: [labelled] } }),
    ]),
  )
  const used = new Set(containers.flatMap(({ NetworkSettings }) => Object.keys(NetworkSettings?.Networks ?? {})))
  return networks.map(({ Name, Labels, Created }) => ({
    name: Name,
    labels: Labels ?? {},
    createdAt: new Date(Created),
    used: used.has(Name),
  }))
}

/** A stopped container also needs its network to start again; the engine itself checks only for running containers. */
export async function removeNetworkIfUnused(docker: Docker, name: string): Promise<void> {
  try {
    const users = await docker.listContainers({ all: true, filters: { network: [name] } })
    if (users.length === 0) await docker.getNetwork(name).remove()
  } catch (error) {
    const known = translate(error, `remove the network ${name}`)
    // The network is in use or already removed: both are acceptable.
    if (known.kind !== 'not-found' && known.kind !== 'refused' && known.kind !== 'conflict') throw known
  }
}

/** The first is the agent's own view, which applies when it is a process of the machine; the install script mounts the second. */
const directories = ['/proc/sys/net/ipv4/conf', '/run/host-net-conf']

/**
 * Makes the machine keep the neighbour addresses of a network's bridge while no container is connected to it.
 *
 * When the only container of a network stops, its bridge has no carrier, and Linux forgets the neighbour addresses. The engine's proxy
 * listens on a published port before the interface of the next container exists: the first client makes Linux request its address in vain,
 * and Linux repeats the request only after a second, in which no client gets an answer. The next container has the same addresses, so the
 * old entries are still correct.
 *
 * Where it cannot be set (no rights, Linux before 5.16, an engine on another machine) a replacement takes that second longer.
 */
async function keepNeighbours(networkId: string): Promise<void> {
  for (const directory of directories) {
    const written = await writeFile(`${directory}/br-${networkId.slice(0, 12)}/arp_evict_nocarrier`, '0', {
      flag: 'r+',
    }).then(
      () => true,
      () => false,
    )
    if (written) return
  }
}
