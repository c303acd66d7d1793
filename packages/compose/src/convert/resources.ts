import type { ContainerConfigFields } from '@crux/contract'
import type { ComposePath, ComposeValue } from '../model.ts'
import type { ServiceContext } from './service-context.ts'
import { formatQuantity, parseByteSize } from './units.ts'
import { toComposeRecord, toNumber, toText } from './values.ts'

type Side = NonNullable<NonNullable<ContainerConfigFields['resourceConfig']>['limits']>
type Source = { path: ComposePath; value: ComposeValue | undefined }

/** Converts the limits and reservations of `deploy.resources`, and the older keys with the same meaning, which give way to them. */
export function convertResources(context: ServiceContext): void {
  const resources = toComposeRecord(toComposeRecord(context.get('deploy')).resources)
  const at = (side: string, key: string): Source => ({
    path: ['deploy', 'resources', side, key],
    value: toComposeRecord(resources[side])[key],
  })
  const own = (key: string): Source => ({ path: [key], value: context.get(key) })
  const limits = {
    ...readSide(context, 'limits', [at('limits', 'cpus'), own('cpus')], [at('limits', 'memory'), own('mem_limit')]),
  }
  const requests = readSide(
    context,
    'requests',
    [at('reservations', 'cpus')],
    [at('reservations', 'memory'), own('mem_reservation')],
  )
  readQuota(context, limits)
  readShares(context, requests)
  const config = {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(requests).length > 0 && { requests }),
  }
  if (Object.keys(config).length > 0) context.config.resourceConfig = config
  reportSwap(context)
}

function readSide(
  context: ServiceContext,
  side: 'limits' | 'requests',
  cpuSources: readonly Source[],
  memorySources: readonly Source[],
): Side {
  const cpu = pick(context, cpuSources, readCores)
  const memory = pick(context, memorySources, (inner, source) => readMemory(inner, source))
  if (cpu) context.origins.set(`resourceConfig.${side}.cpu`, cpu.path)
  if (memory) context.origins.set(`resourceConfig.${side}.memory`, memory.path)
  return { ...(cpu && { cpu: cpu.text }), ...(memory && { memory: memory.text }) }
}

/** The first source with a value; a later one that differs is reported. */
function pick(
  context: ServiceContext,
  sources: readonly Source[],
  read: (context: ServiceContext, source: Source) => string | undefined,
): { text: string; path: ComposePath } | undefined {
  let chosen: { text: string; path: ComposePath } | undefined
  for (const source of sources) {
    const text = read(context, source)
    if (text === undefined) continue
    if (!chosen) chosen = { text, path: source.path }
    else if (chosen.text !== text) context.omit(source.path, `${chosen.path.join('.')} applies instead`)
  }
  return chosen
}

/** Zero means no limit. */
function readCores(context: ServiceContext, { value, path }: Source): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const cores = toNumber(value)
  if (cores === undefined || cores < 0) {
    context.error(path, `"${toText(value) ?? ''}" is not a number of cores: write it like 0.5`)
    return undefined
  }
  return cores === 0 ? undefined : formatCores(cores)
}

/** At least one thousandth, without an exponent. */
const formatCores = (cores: number): string => String(Math.max(0.001, Number(cores.toFixed(3))))

function readMemory(context: ServiceContext, { value, path }: Source): string | undefined {
  const text = toText(value)
  if (text === undefined || text === '') return undefined
  const bytes = parseByteSize(text)
  if (bytes === undefined) context.error(path, `"${text}" is not a size: write it like 512m or 1g`)
  return bytes ? formatQuantity(bytes) : undefined
}

/** `cpu_quota` microseconds of each `cpu_period`, which is 100,000 by default. */
function readQuota(context: ServiceContext, limits: Side): void {
  const quota = toNumber(context.get('cpu_quota'))
  if (!quota || quota <= 0) return
  const cpu = formatCores(quota / (toNumber(context.get('cpu_period')) || 100_000))
  if (limits.cpu === undefined) {
    limits.cpu = cpu
    context.origins.set('resourceConfig.limits.cpu', ['cpu_quota'])
  } else if (limits.cpu !== cpu) context.omit(['cpu_quota'], 'The limit of cores applies instead')
}

/** The agent gives a container 1,024 shares for each core that it requests. */
function readShares(context: ServiceContext, requests: Side): void {
  const shares = toNumber(context.get('cpu_shares'))
  if (!shares || shares <= 0) return
  if (requests.cpu !== undefined) {
    context.omit(['cpu_shares'], 'The reservation of cores applies instead')
    return
  }
  requests.cpu = formatCores(shares / 1_024)
  context.origins.set('resourceConfig.requests.cpu', ['cpu_shares'])
}

/** A container with a memory limit has no swap in Crux, as where both limits are equal. */
function reportSwap(context: ServiceContext): void {
  const swap = toText(context.get('memswap_limit'))
  if (swap === undefined || swap === '' || swap === '0') return
  const bytes = parseByteSize(swap)
  const limit = context.config.resourceConfig?.limits?.memory
  if (bytes === undefined || !limit || formatQuantity(bytes) !== limit)
    context.omit(
      ['memswap_limit'],
      'Crux gives a container with a memory limit no swap, and has no other setting for it',
    )
}
