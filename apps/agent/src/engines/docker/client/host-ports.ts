import { readFile } from 'node:fs/promises'
import type { PublishedPort } from '../containers/container-engine.ts'

/**
 * Whether a process of this machine holds a port, read from the kernel's socket tables without opening anything. Inside a network namespace
 * of its own the agent sees only its own sockets and returns false; the engine then reports the error later.
 */
export async function isPortHeld(port: PublishedPort): Promise<boolean> {
  const tables = await Promise.all(
    [`/proc/net/${port.protocol}`, `/proc/net/${port.protocol}6`].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  return tables.some((table) => holdsPort(table, port))
}

/** State 0A is LISTEN; a bound UDP socket has state 07. */
export function holdsPort(table: string, port: PublishedPort): boolean {
  const wanted = port.protocol === 'tcp' ? '0A' : '07'
  return table
    .split('\n')
    .slice(1)
    .some((line) => {
      const [, local = '', , state] = line.trim().split(/\s+/)
      const [address = '', hexPort = ''] = local.split(':')
      return state === wanted && Number.parseInt(hexPort, 16) === port.hostPort && overlaps(address, port.address)
    })
}

function overlaps(socketAddress: string, wanted: string): boolean {
  if (wanted === '' || wanted === '0.0.0.0' || wanted === '::') return true
  if (/^0+$/.test(socketAddress)) return true
  const octets = wanted.split('.').map(Number)
  if (octets.length !== 4) return true
  // The kernel prints IPv4 addresses in the byte order of the machine, little-endian on all supported machines.
  const hex = octets
    .reverse()
    .map((octet) => octet.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
  return socketAddress === hex || socketAddress.endsWith(hex)
}
