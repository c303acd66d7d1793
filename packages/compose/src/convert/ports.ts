import { type ContainerConfigFields, PortBinding } from '@crux/contract'
import type { ComposePath, ComposeValue } from '../model.ts'
import { type PlacedRow, type ServiceContext, setRows } from './service-context.ts'
import { isComposeRecord, toList, toText } from './values.ts'

type PortRow = NonNullable<ContainerConfigFields['ports']>[number]
type RangeRow = NonNullable<ContainerConfigFields['portRanges']>[number]
type Range = { from: number; to: number }
type PortEntry = { target: Range; published?: Range; address?: string; protocol?: string }

/** Ranges become single ports where our ranges cannot hold them: UDP, and those of one address. */
const singlePortsMax = 1_000

type Placed = PlacedRow<PortRow>

/** Converts `ports` (short and long) and `expose` to ports and ranges of ports. */
export function convertPorts(context: ServiceContext): void {
  const ports = new Map<string, Placed>()
  const ranges: PlacedRow<RangeRow>[] = []
  for (const [index, item] of toList(context.get('ports')).entries()) {
    const path = ['ports', index]
    const entry = isComposeRecord(item) ? readLongPort(item) : readShortPort(item)
    if (entry) addEntry(context, { ports, ranges }, entry, path)
    else
      context.error(
        path,
        `${describe(item)} is not a port: write it like "8080:80", "127.0.0.1:53:53/udp" or "9000-9010:9000-9010"`,
      )
  }
  for (const [index, item] of toList(context.get('expose')).entries()) {
    const path = ['expose', index]
    const entry = readShortPort(item)
    if (entry && entry.published === undefined) addExposed(context, { ports, ranges }, entry, path)
    else context.error(path, `${describe(item)} is not a port of the container: write it like "3000" or "53/udp"`)
  }
  setRows(context, 'ports', [...ports.values()], (rows) => {
    context.config.ports = rows
  })
  setRows(context, 'portRanges', ranges, (rows) => {
    context.config.portRanges = rows
  })
}

const describe = (item: ComposeValue) => (isComposeRecord(item) ? 'This' : `"${toText(item) ?? ''}"`)

/** `[[address:][published]:]target[/protocol]`; an address of IPv6 may have brackets. */
function readShortPort(item: ComposeValue): PortEntry | undefined {
  const [text = '', protocol, ...rest] = (toText(item) ?? '').trim().split('/')
  if (rest.length > 0) return undefined
  const parts = text.split(':')
  const target = parseRange(parts.pop())
  const published = parts.pop()
  const address = parts.join(':').replace(/^\[|\]$/g, '')
  return toEntry({ target, published, address, protocol })
}

function readLongPort(item: { [key: string]: ComposeValue }): PortEntry | undefined {
  const target = parseRange(toText(item.target))
  return toEntry({
    target,
    published: toText(item.published),
    address: toText(item.host_ip),
    protocol: toText(item.protocol),
  })
}

type RawEntry = {
  target: Range | undefined
  published: string | undefined
  address: string | undefined
  protocol: string | undefined
}

function toEntry({ target, published, address, protocol }: RawEntry): PortEntry | undefined {
  const outside = published ? parseRange(published) : undefined
  if (!target || (published && !outside)) return undefined
  return {
    target,
    ...(outside && { published: outside }),
    ...(address && { address }),
    ...(protocol && { protocol: protocol.toLowerCase() }),
  }
}

function parseRange(text: string | undefined): Range | undefined {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text?.trim() ?? '')
  if (!match) return undefined
  const [from, to] = [Number(match[1]), Number(match[2] ?? match[1])]
  return from >= 1 && to <= 65_535 && from <= to ? { from, to } : undefined
}

/** `ports` by number and protocol in the container. */
type Lists = { ports: Map<string, Placed>; ranges: PlacedRow<RangeRow>[] }
const countPorts = ({ from, to }: Range) => to - from + 1

function addEntry(context: ServiceContext, lists: Lists, entry: PortEntry, path: ComposePath): void {
  const { target, published, address, protocol } = entry
  if (!checkEntry(context, entry, path)) return
  if (!published) {
    const free = 'Compose publishes it at a free port of the node. Here only other containers reach it'
    context.omit(path, `${free}: write a port of the node before it, such as "8080:${target.from}"`)
    addExposed(context, lists, entry, path)
    return
  }
  if (countPorts(target) === 1 && countPorts(published) > 1)
    context.omit(
      path,
      `Compose chooses a free port of ${published.from}-${published.to}. Here it is published at ${published.from}`,
    )
  if (countPorts(target) > 1 && !address && (protocol ?? 'tcp') === 'tcp') {
    lists.ranges.push({ row: { internal: target, external: published }, path })
    return
  }
  if (!reserveSinglePorts(context, target, path)) return
  for (let offset = 0; offset < countPorts(target); offset += 1) {
    const row = toRow(target.from + offset, protocol, {
      external: published.from + offset,
      ...(address && { bindAddress: address }),
    })
    addPublished(context, lists, row, path)
  }
}

/** @returns whether the entry can be converted */
function checkEntry(
  context: ServiceContext,
  { target, published, protocol, address }: PortEntry,
  path: ComposePath,
): boolean {
  if (protocol !== undefined && protocol !== 'tcp' && protocol !== 'udp') {
    context.omit(path, `Crux publishes TCP and UDP, not ${protocol}`)
    return false
  }
  if (address !== undefined && !PortBinding.shape.bindAddress.safeParse(address).success) {
    context.error(path, `"${address}" is not an address of the node: write an IP address`)
    return false
  }
  if (published && countPorts(target) > 1 && countPorts(published) !== countPorts(target)) {
    context.error(
      path,
      `The ranges ${published.from}-${published.to} and ${target.from}-${target.to} need the same length`,
    )
    return false
  }
  if (countPorts(target) > singlePortsMax && (!published || protocol === 'udp')) {
    context.error(
      path,
      `A range of UDP ports, or one that is not published, has at most ${singlePortsMax} ports: make it shorter`,
    )
    return false
  }
  return true
}

/** @returns whether the range may become single ports */
function reserveSinglePorts(context: ServiceContext, target: Range, path: ComposePath): boolean {
  if (countPorts(target) === 1 || context.reservePorts(countPorts(target))) return true
  context.error(path, 'The ranges of all services become more than 10,000 single ports: make them shorter')
  return false
}

function addExposed(
  context: ServiceContext,
  { ports, ranges }: Lists,
  { target, protocol }: PortEntry,
  path: ComposePath,
): void {
  if (!checkEntry(context, { target, ...(protocol && { protocol }) }, path)) return
  if (!reserveSinglePorts(context, target, path)) return
  for (let port = target.from; port <= target.to; port += 1) {
    const row = toRow(port, protocol, {})
    const isInRange = ranges.some(({ row: { internal } }) => internal.from <= port && port <= internal.to)
    if (!(isInRange && protocolName(row) === 'tcp') && !ports.has(describePort(row)))
      ports.set(describePort(row), { row, path })
  }
}

function addPublished(context: ServiceContext, { ports }: Lists, row: PortRow, path: ComposePath): void {
  const existing = ports.get(describePort(row))
  if (!existing?.row.external) ports.set(describePort(row), { row, path })
  else if (existing.row.external !== row.external || existing.row.bindAddress !== row.bindAddress)
    context.omit(
      path,
      `Crux publishes a port of a container once: ${describePort(row)} is published at ${existing.row.external} already`,
    )
}

/** TCP is the default, and needs no name. */
const toRow = (internal: number, protocol: string | undefined, rest: Partial<PortRow>): PortRow => ({
  internal,
  ...rest,
  ...(protocol === 'udp' && { protocol }),
})

const protocolName = (row: PortRow) => row.protocol ?? 'tcp'
const describePort = (row: PortRow) => `${row.internal}/${protocolName(row)}`
