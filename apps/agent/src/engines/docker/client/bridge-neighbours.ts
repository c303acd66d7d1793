import { writeFile } from 'node:fs/promises'

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
