import type { ContainerConfigFields } from '@crux/contract'
import type { HostDanger } from './host-danger.ts'

/** These drivers write only files of their own on the node, or nothing, and open no connection. */
const harmlessDrivers: ReadonlySet<string> = new Set(['nodeDefault', 'json-file', 'local', 'none'])

/** The engine renames log files one by one at each rotation. */
const rotatedFilesMax = 100
const bufferBytesMax = 16 * 1024 ** 2

const anything = () => true
/**
 * Options that contain neither an address nor a path, with the values that cost the engine nothing. Every other option is dangerous until it is
 * listed here, for any driver: the engine runs drivers as root, in the network of the node.
 */
const harmlessOptions: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['max-size', anything],
  ['max-file', (value) => /^\s*\d+\s*$/.test(value) && Number(value) <= rotatedFilesMax],
  ['compress', anything],
  ['labels', anything],
  ['labels-regex', anything],
  ['env', anything],
  ['env-regex', anything],
  ['tag', isPlainTag],
  ['mode', anything],
  ['max-buffer-size', (value) => (bytesOfLogSize(value) ?? Number.POSITIVE_INFINITY) <= bufferBytesMax],
  ['cache-disabled', anything],
  ['cache-max-size', anything],
  ['cache-max-file', (value) => /^\s*\d+\s*$/.test(value) && Number(value) <= rotatedFilesMax],
  ['cache-compress', anything],
])

/** Log options with which the engine would act on the node with rights that the container does not have. */
export function logDangers({ logConfig }: ContainerConfigFields): HostDanger[] {
  if (!logConfig) return []
  const found: HostDanger[] = []
  const { driver } = logConfig
  if (driver && !harmlessDrivers.has(driver))
    found.push({
      property: 'logConfig.driver',
      value: driver,
      reason: `The engine runs the log driver ${driver} as root in the network of the node, and reaches what a container does not`,
    })
  logConfig.options?.forEach(({ key, value }, index) => {
    const isHarmless = harmlessOptions.get(key.trim())
    if (!isHarmless)
      found.push({
        property: `logConfig.options[${index}].key`,
        value: key,
        reason: `The engine follows the log option ${key} as root of the node: it may name an address or a file there`,
      })
    else if (!isHarmless(value))
      found.push({ property: `logConfig.options[${index}].value`, value, reason: costlyReasons[key.trim()] ?? '' })
  })
  return found
}

const costlyReasons: Readonly<Record<string, string>> = {
  tag: 'The engine runs this tag as a template in its own process: only {{.ID}}, {{.Name}} and their like cost it nothing',
  'max-file': `The engine renames every log file at each rotation: more than ${rotatedFilesMax} keep it busy`,
  'cache-max-file': `The engine renames every log file at each rotation: more than ${rotatedFilesMax} keep it busy`,
  'max-buffer-size': 'The engine keeps this buffer in its own memory, outside the limits of the container',
}

/** Only text and names are allowed: functions of a template, such as `pad`, can use any amount of the engine's memory. */
function isPlainTag(value: string): boolean {
  return !value
    .replaceAll(/\{\{\s*\.(ID|FullID|Name|ImageID|ImageFullID|ImageName|DaemonName)\s*\}\}/g, '')
    .includes('{{')
}

/** Parses sizes like the engine: `10m` and `10 MiB` are binary. */
function bytesOfLogSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s?([kmgtp]?)i?b?$/i.exec(text.trim())
  if (!match) return undefined
  return Number(match[1]) * 1024 ** ' kmgtp'.indexOf(match[2]?.toLowerCase() || ' ')
}
