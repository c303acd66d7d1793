import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { BlockList, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { GatePort } from './protocol.ts'

/** The stored state for a gate that starts after a crash or a reboot: which ports it held and their targets. */
interface Stored {
  /** The kernel's boot id: after a reboot every container has another address. */
  boot: string
  ports: GatePort[]
  /**
   * By target, the links that its network had. An engine that restarts assigns addresses again, so that one may belong to another container
   * by now, and every container gets a new link: where none of these is left, the owner of the address is unknown.
   */
  links?: Record<string, string[]>
}

export function readPorts(directory: string): GatePort[] {
  let stored: Stored
  try {
    stored = JSON.parse(readFileSync(join(directory, 'ports.json'), 'utf8'))
  } catch {
    return []
  }
  const ports = Array.isArray(stored.ports) ? stored.ports.filter(isPort) : []
  const holds = ({ target }: GatePort) => {
    const links = stored.links?.[target] ?? []
    return stored.boot === bootId() && (links.length === 0 || links.some(isThere))
  }
  return ports.map((port) => (holds(port) ? port : { ...port, target: '' }))
}

/** Writes in one step, so that a crash leaves the old or the new text. Without fsync: after a loss of power the addresses are stale in any case. */
export function writePorts(directory: string, ports: readonly GatePort[]): void {
  const path = join(directory, 'ports.json')
  const targets = new Set(ports.map(({ target }) => target).filter((target) => target !== ''))
  const stored: Stored = { boot: bootId(), ports: [...ports], links: getLinks(targets) }
  writeFileSync(`${path}.new`, JSON.stringify(stored), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

const network = '/sys/class/net'

/** The links at the bridge of each address; empty where they cannot be read. */
function getLinks(targets: ReadonlySet<string>): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  if (targets.size === 0) return found
  for (const [bridge, addresses] of Object.entries(networkInterfaces())) {
    const block = new BlockList()
    for (const { address, cidr, family } of addresses ?? [])
      if (cidr) block.addSubnet(address, Number(cidr.split('/')[1]), family === 'IPv6' ? 'ipv6' : 'ipv4')
    // A wider network of the machine may contain the address too, and has no members.
    for (const target of targets)
      if (!found[target]?.length && block.check(target, isIPv6(target) ? 'ipv6' : 'ipv4'))
        found[target] = listMembers(bridge)
  }
  return found
}

function listMembers(bridge: string): string[] {
  try {
    return readdirSync(join(network, bridge, 'brif')).map((name) => `${name} ${indexOf(name)}`)
  } catch {
    return []
  }
}

function isThere(link: string): boolean {
  const [name = '', index] = link.split(' ')
  try {
    return indexOf(name) === index
  } catch {
    return false
  }
}

/** Unlike a name, an index is never reused. */
function indexOf(name: string): string {
  return readFileSync(join(network, name, 'ifindex'), 'utf8').trim()
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

export function isPort(value: unknown): value is GatePort {
  if (typeof value !== 'object' || value === null) return false
  const port: Partial<Record<keyof GatePort, unknown>> = value
  const isNumber = (number: unknown) => Number.isInteger(number) && Number(number) > 0 && Number(number) < 65_536
  const isText = (text: unknown) => typeof text === 'string' && text.length < 256
  return (
    isNumber(port.port) &&
    isNumber(port.containerPort) &&
    [port.address, port.target, port.container, port.prefix].every(isText) &&
    (port.proxy === '' || port.proxy === 'v1' || port.proxy === 'v2')
  )
}
