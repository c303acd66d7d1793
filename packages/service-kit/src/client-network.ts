import { isIPv6 } from 'node:net'
import { bytesOfV6, embeddedV4 } from './outbound/addresses.ts'

/** The smallest network that a subscriber gets (RFC 6177), so all of its addresses count as one client. */
const networkBytes = 8

/**
 * The subject of limits per client: an IPv4 address, also when it is written as IPv6, or the network of an IPv6 address. Other texts are returned
 * unchanged.
 */
export function clientNetwork(address: string): string {
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return plain
  const bytes = bytesOfV6(plain)
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  const inner = isMapped ? embeddedV4(plain) : undefined
  return inner ?? `${Buffer.from(bytes.slice(0, networkBytes)).toString('hex')}::/64`
}
