import type Docker from 'dockerode'
import type { NetworkSpec } from '../container-engine.ts'
import { translating } from './errors.ts'
import { blockOf, freeBlocks, hostRoutes } from './network-addresses.ts'

const poolsUsedUp = /non-overlapping IPv4 address pool|all predefined address pools have been fully subnetted/i
const overlaps = /pool overlaps/i
/** Somebody else may take a block between our look and the call. */
const attemptsMax = 20

/** Creates a bridge network, with addresses of the engine's choice as long as it has any. Throws EngineError. */
export async function createNetwork(docker: Docker, network: NetworkSpec): Promise<void> {
  const options = {
    Name: network.name,
    Driver: 'bridge',
    Internal: network.internal,
    Labels: network.labels,
    CheckDuplicate: true,
  }
  const create = (subnet?: string) =>
    translating(`network ${network.name}`, () =>
      docker.createNetwork(
        subnet ? { ...options, IPAM: { Driver: 'default', Config: [{ Subnet: subnet }] } } : options,
      ),
    )
  try {
    await create()
  } catch (error) {
    if (!(error instanceof Error) || !poolsUsedUp.test(error.message)) throw error
    await createInReserve(docker, create, error)
  }
}

async function createInReserve(
  docker: Docker,
  create: (subnet: string) => Promise<unknown>,
  cause: Error,
): Promise<void> {
  const [networks, routes] = await Promise.all([docker.listNetworks(), hostRoutes()])
  const used = networks.flatMap(({ IPAM }) => (IPAM?.Config ?? []).flatMap(({ Subnet }) => blockOf(Subnet ?? '') ?? []))
  let attempts = 0
  for (const subnet of freeBlocks([...used, ...routes])) {
    if (++attempts > attemptsMax) break
    try {
      await create(subnet)
      return
    } catch (error) {
      if (!(error instanceof Error) || !overlaps.test(error.message)) throw error
    }
  }
  throw cause
}
