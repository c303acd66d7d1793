import { isIPv6 } from 'node:net'
import { bytesOfV6, embeddedV4 } from './outbound/addresses.ts'

/** The smallest network that a subscriber gets (RFC 6177): all of its addresses are one client's. */
const networkBytes = 8

/**
 * Who is counted where attempts of a client are limited: an IPv4 address, also where it is written as IPv6, and of an IPv6 address
 * its network. What is no address stands for itself.
 */
export function clientNetwork(address: string): string {
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return plain
  const bytes = bytesOfV6(plain)
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  const inner = isMapped ? embeddedV4(plain) : undefined
  return inner ?? `${Buffer.from(bytes.slice(0, networkBytes)).toString('hex')}::/64`
}
