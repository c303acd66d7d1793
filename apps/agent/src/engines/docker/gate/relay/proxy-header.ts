import { isIPv4 } from 'node:net'

export interface Ends {
  sourceAddress: string | undefined
  sourcePort: number | undefined
  destinationAddress: string | undefined
  destinationPort: number | undefined
}

/**
 * The PROXY protocol's header (haproxy.org, proxy-protocol.txt, 2.1 and 2.2): the client's address and the address that it connected to,
 * before the first byte.
 */
export function proxyHeader(version: 'v1' | 'v2', ends: Ends): Buffer {
  const source = plain(ends.sourceAddress)
  const destination = plain(ends.destinationAddress)
  const { sourcePort = 0, destinationPort = 0 } = ends
  // A client that has disconnected already has no address any more.
  const known = source !== '' && destination !== '' && isIPv4(source) === isIPv4(destination)
  if (version === 'v1') {
    if (!known) return Buffer.from('PROXY UNKNOWN\r\n')
    const family = isIPv4(source) ? 'TCP4' : 'TCP6'
    return Buffer.from(`PROXY ${family} ${source} ${destination} ${sourcePort} ${destinationPort}\r\n`)
  }
  // Version 2 and LOCAL, without addresses: the receiver uses those of the connection itself.
  if (!known) return Buffer.concat([signature, Buffer.from([0x20, 0x00, 0x00, 0x00])])
  const addresses = Buffer.concat([octets(source), octets(destination)])
  const ports = Buffer.alloc(4)
  ports.writeUInt16BE(sourcePort, 0)
  ports.writeUInt16BE(destinationPort, 2)
  const head = Buffer.from([0x21, isIPv4(source) ? 0x11 : 0x21, 0, addresses.length + ports.length])
  return Buffer.concat([signature, head, addresses, ports])
}

const signature = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a])

/** A listener for both families sees IPv4 clients as `::ffff:1.2.3.4`; a link-local one carries its interface behind a percent sign. */
export function plain(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}

function octets(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const left = groups(head)
  const right = tail === undefined ? [] : groups(tail)
  const all = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
  const buffer = Buffer.alloc(16)
  all.forEach((group, index) => {
    buffer.writeUInt16BE(group, index * 2)
  })
  return buffer
}
