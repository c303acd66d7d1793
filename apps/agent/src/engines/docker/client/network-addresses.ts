import { readFile } from 'node:fs/promises'

/** An IPv4 block as first and last address. */
export type Block = { first: number; last: number }

/**
 * The engine's own pools hold some thirty networks; a node has two for each prefix. So networks get small blocks of this private range (RFC
 * 1918): 256 addresses each, 13,824 networks.
 */
const reserve = { first: parse('10.201.0.0'), last: parse('10.254.255.255') }
const blockSize = 256

/** Unused blocks of the reserve, in order. `taken` are the engine's networks and the host's routes. */
export function* freeBlocks(taken: readonly Block[]): Generator<string> {
  for (let first = reserve.first; first + blockSize - 1 <= reserve.last; first += blockSize) {
    const last = first + blockSize - 1
    if (!taken.some((block) => block.first <= last && first <= block.last)) yield `${format(first)}/24`
  }
}

/** `172.17.0.0/16` as a block; undefined for IPv6 and for text that is not a block. */
export function parseBlock(cidr: string): Block | undefined {
  const [, address, bits] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr) ?? []
  if (address === undefined || Number(bits) > 32) return undefined
  const size = 2 ** (32 - Number(bits))
  const first = Math.floor(parse(address) / size) * size
  return { first, last: first + size - 1 }
}

/**
 * The blocks to which this machine routes packets, without the default route. Empty on systems other than Linux: there the engine itself
 * detects overlaps.
 */
export async function hostRoutes(): Promise<Block[]> {
  const table = await readFile('/proc/net/route', 'utf8').catch(() => '')
  return parseRoutes(table)
}

/** The table holds destination and mask as little-endian hexadecimal. */
export function parseRoutes(table: string): Block[] {
  return table.split('\n').flatMap((row) => {
    const columns = row.split(/\s+/)
    const [destination, mask] = [columns[1] ?? '', columns[7] ?? '']
    if (!/^[0-9A-F]{8}$/i.test(destination) || !/^[0-9A-F]{8}$/i.test(mask)) return []
    const first = fromLittleEndian(destination)
    const size = 2 ** 32 - fromLittleEndian(mask)
    return size === 2 ** 32 ? [] : [{ first, last: first + size - 1 }]
  })
}

function fromLittleEndian(hex: string): number {
  return (hex.match(/../g) ?? []).reduceRight((sum, byte) => sum * 256 + Number.parseInt(byte, 16), 0)
}

function parse(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function format(value: number): string {
  return [2 ** 24, 2 ** 16, 2 ** 8, 1].map((unit) => Math.floor(value / unit) % 256).join('.')
}
