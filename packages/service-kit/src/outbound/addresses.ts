import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** `never`: refused with any configuration. `private`: loopback and private ranges. `public`: everything else. */
export type AddressVerdict = 'never' | 'private' | 'public'

/**
 * Classifies one address literal. An IPv6 address that contains an IPv4 one (mapped, compatible, NAT64, 6to4, ISATAP) gets the stricter class of
 * both. Teredo is refused, because its destination depends on a relay.
 */
export function judgeAddress(address: string): AddressVerdict {
  const plain = address.replace(/%.*$/, '')
  if (isIPv4(plain)) return judgeV4(plain)
  if (!isIPv6(plain)) return 'never'
  const bytes = bytesOfV6(plain)
  const inner = innerV4(bytes)
  // A mapped or compatible address is equivalent to the IPv4 one; `::` and `::1` are not such addresses.
  if (inner && bytes.slice(0, 10).every((byte) => byte === 0) && !isPlainLow(bytes)) return judgeV4(inner)
  const own = neverV6.check(plain, 'ipv6') ? 'never' : privateV6.check(plain, 'ipv6') ? 'private' : 'public'
  return inner && !isPlainLow(bytes) ? stricter(own, judgeV4(inner)) : own
}

/** Returns a check whether a list such as `10.0.0.0/8, fd00::/8` or `192.168.1.5` contains an address. */
export function makeAllowList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const entry of entries) {
    const range = toRange(entry.trim())
    if (!range) throw new TypeError(`"${entry}" is not an address range; example: 10.0.0.0/8`)
    list.addSubnet(range.network, range.bits, range.family)
  }
  return (address) => {
    const plain = address.replace(/%.*$/, '')
    const inner = isIPv6(plain) ? innerV4(bytesOfV6(plain)) : undefined
    return list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6') || (inner !== undefined && list.check(inner, 'ipv4'))
  }
}

/** Parses `10.0.0.0/8` or one address. Undefined for other texts. */
export function toRange(entry: string): { network: string; bits: number; family: 'ipv4' | 'ipv6' } | undefined {
  const [network = '', prefix, ...rest] = entry.split('/')
  const family = isIPv4(network) ? 'ipv4' : isIPv6(network) ? 'ipv6' : undefined
  if (!family || rest.length > 0) return undefined
  const most = family === 'ipv4' ? 32 : 128
  // Only digits are accepted, because Number('') is 0, which would allow every address.
  const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
  return bits < 0 || bits > most ? undefined : { network, bits, family }
}

/** The IPv4 address inside an IPv6 one of a known format. */
export function embeddedV4(address: string): string | undefined {
  const plain = address.replace(/%.*$/, '')
  return isIPv6(plain) ? innerV4(bytesOfV6(plain)) : undefined
}

const neverV4 = ranges('ipv4', [
  '0.0.0.0/8', // "this host": connects to loopback on Linux
  '169.254.0.0/16', // link-local, cloud metadata
  '100.100.100.200/32', // metadata (Alibaba)
  '168.63.129.16/32', // platform endpoint (Azure)
  '192.0.0.192/32', // metadata (Oracle)
  '192.0.0.0/24',
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])
const privateV4 = ranges('ipv4', [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
])
const neverV6 = ranges('ipv6', [
  '::/128',
  'fe80::/10', // link-local
  'fec0::/10', // site-local, deprecated
  'ff00::/8',
  '100::/64',
  '2001::/32', // Teredo
  '2001:db8::/32',
  'fd00:ec2::254/128', // metadata (AWS)
  'fd20:ce::254/128', // metadata (Google)
])
const privateV6 = ranges('ipv6', ['::1/128', 'fc00::/7', '64:ff9b:1::/48'])

function judgeV4(address: string): AddressVerdict {
  return neverV4.check(address, 'ipv4') ? 'never' : privateV4.check(address, 'ipv4') ? 'private' : 'public'
}

function stricter(a: AddressVerdict, b: AddressVerdict): AddressVerdict {
  const order: AddressVerdict[] = ['never', 'private', 'public']
  return order[Math.min(order.indexOf(a), order.indexOf(b))] ?? 'never'
}

function innerV4(bytes: number[]): string | undefined {
  const zero = (from: number, to: number) => bytes.slice(from, to).every((byte) => byte === 0)
  const at = (index: number) => bytes.slice(index, index + 4).join('.')
  if (zero(0, 10) && bytes[10] === 0xff && bytes[11] === 0xff) return at(12) // ::ffff:a.b.c.d
  if (zero(0, 12)) return at(12) // ::a.b.c.d
  if (zero(0, 8) && bytes[8] === 0xff && bytes[9] === 0xff && zero(10, 12)) return at(12) // ::ffff:0:a.b.c.d (SIIT)
  if (bytes[0] === 0x00 && bytes[1] === 0x64 && bytes[2] === 0xff && bytes[3] === 0x9b) return at(12) // NAT64
  if (bytes[0] === 0x20 && bytes[1] === 0x02) return at(2) // 6to4
  if (bytes[10] === 0x5e && bytes[11] === 0xfe && (bytes[8] === 0x00 || bytes[8] === 0x02) && bytes[9] === 0x00)
    return at(12) // ISATAP
  return undefined
}

/** `::` and `::1` look like IPv4-compatible addresses but are the unspecified and the loopback address. */
function isPlainLow(bytes: number[]): boolean {
  return bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1
}

export function bytesOfV6(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  const hex = (high: string | undefined, low: string | undefined) => ((Number(high) << 8) | Number(low)).toString(16)
  const text = dotted ? `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}` : address
  const [head = '', tail] = text.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right]
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

function ranges(family: 'ipv4' | 'ipv6', entries: string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [network = '', bits] = entry.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}
