import { writeFile } from 'node:fs/promises'

/** The first is the agent's own view, which counts when it is a process of the machine; the second is what the install script mounts. */
const directories = ['/proc/sys/net/ipv4/conf', '/run/host-net-conf']

/**
 * Makes the machine keep the addresses that it knows on a network's bridge while nothing is connected to it.
 *
 * When the only container of a network stops, its bridge has no carrier, and Linux forgets who was there. The engine's proxy
 * listens on a published port before the interface of the next container exists: the first client makes Linux ask for its
 * address in vain, and it asks again only after a second, in which nobody gets an answer. The next container has the same
 * addresses, so what Linux knew is still right.
 *
 * Where it cannot be set (no rights, Linux before 5.16, an engine on another machine) a replacement takes that second longer.
 */
export async function keepNeighbours(networkId: string): Promise<void> {
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
