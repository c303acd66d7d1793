/** Times of clocks in a time zone. A local time is kept as the milliseconds that it would be in UTC. */

export const minuteMs = 60_000
export const dayMs = 24 * 60 * minuteMs
const cachedMax = 1_000

type Zone = { format: Intl.DateTimeFormat; offsets: Map<number, number> }
const zones = new Map<string, Zone | undefined>()

/** Creating a formatter takes longer than everything else here, so that each one is kept. */
function findZone(timeZone: string): Zone | undefined {
  if (zones.has(timeZone)) return zones.get(timeZone)
  if (zones.size >= cachedMax) zones.clear()
  const zone = createZone(timeZone)
  zones.set(timeZone, zone)
  return zone
}

function createZone(timeZone: string): Zone | undefined {
  // Offsets such as +02:00 are not zones: not every browser knows them, and they ignore daylight saving time.
  if (!/^[A-Za-z]/.test(timeZone)) return undefined
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    return { format, offsets: new Map() }
  } catch {
    return undefined
  }
}

export const isTimeZone = (timeZone: string): boolean => findZone(timeZone) !== undefined

function getZone(timeZone: string): Zone {
  const zone = findZone(timeZone)
  if (!zone) throw new Error(`${timeZone} is not a time zone`)
  return zone
}

function readClock({ format }: Zone, time: number): number {
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
  const get = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  return Date.UTC(get('year'), get('month') - 1, get('day'), get('hour'), get('minute'), get('second'))
}

const computeOffset = (zone: Zone, time: number) => readClock(zone, time) - Math.floor(time / 1_000) * 1_000

/** Only called for the boundaries of days, so that few values are kept. */
function offsetOfDay(zone: Zone, time: number): number {
  const known = zone.offsets.get(time)
  if (known !== undefined) return known
  if (zone.offsets.size >= cachedMax) zone.offsets.clear()
  const offset = computeOffset(zone, time)
  zone.offsets.set(time, offset)
  return offset
}

/** What a clock in the zone shows at a time. @throws Error when the zone is unknown */
export const toLocalTime = (timeZone: string, time: number): number => time + computeOffset(getZone(timeZone), time)

/**
 * When a clock in the zone first shows a local time or a later one. A time that the clock skips is that of the skip; of
 * a time that it shows twice it is the first.
 *
 * @throws Error when the zone is unknown
 */
export function firstTimeAt(timeZone: string, local: number): number {
  const { before, after, changedAt } = findChange(getZone(timeZone), local)
  if (changedAt === undefined || local - before < changedAt) return local - before
  return Math.max(changedAt, local - after)
}

/**
 * From when on a clock in the zone never again shows a time before a local time: the second time where it shows the
 * local time twice.
 *
 * @throws Error when the zone is unknown
 */
export function lastTimeAt(timeZone: string, local: number): number {
  const { before, after, changedAt } = findChange(getZone(timeZone), local)
  if (changedAt === undefined) return local - before
  if (local - after > changedAt) return local - after
  return Math.min(changedAt, local - before)
}

/** The offsets before and after a local time, and when the clock changes from one to the other. */
function findChange(zone: Zone, local: number) {
  const day = Math.floor(local / dayMs) * dayMs
  let [from, to] = [day - dayMs, day + 2 * dayMs]
  const [before, after] = [offsetOfDay(zone, from), offsetOfDay(zone, to)]
  if (before === after) return { before, after }
  while (to - from > minuteMs) {
    const middle = from + Math.floor((to - from) / 2 / minuteMs) * minuteMs
    if (computeOffset(zone, middle) === before) from = middle
    else to = middle
  }
  return { before, after, changedAt: to }
}
