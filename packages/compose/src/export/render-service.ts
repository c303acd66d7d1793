import type { ContainerConfigFields } from '@crux/contract'
import { bytesOfQuantity, formatPort, formatPortRange, millisOfCores } from '@crux/rules'
import type { ComposeRecord } from '../convert/values.ts'
import type { ComposeValue } from '../model.ts'
import { toNetworkName } from './render-declarations.ts'
import type { NamedImage } from './service-names.ts'

type Config = ContainerConfigFields
type Member = ComposeValue | undefined

/**
 * Writes the settings that Compose has, in an order in which people write them.
 *
 * @param nameVolume the name of a volume inside the file
 */
export function renderService({ reference, config }: NamedImage, nameVolume: (name: string) => string): ComposeRecord {
  return present({
    image: reference,
    restart: config.restartPolicy ? restartPolicies[config.restartPolicy] : undefined,
    entrypoint: renderArguments(config.commands),
    command: renderArguments(config.args),
    environment: renderPairs(config.environment),
    ports: renderPorts(config),
    expose: renderExpose(config),
    volumes: config.volumes?.map((volume) => renderVolume({ ...volume, name: nameVolume(volume.name) })),
    ...renderNetworking(config),
    healthcheck: renderHealthCheck(config.healthCheckConfig),
    user: typeof config.user === 'number' && config.user >= 0 ? String(config.user) : undefined,
    working_dir: config.workingDirectory || undefined,
    tty: config.tty ?? undefined,
    stop_signal: config.stopSignal || undefined,
    stop_grace_period: renderSeconds(config.stopGracePeriodSeconds),
    cap_add: renderCapabilities(config, 'add'),
    cap_drop: renderCapabilities(config, 'drop'),
    ulimits: renderUlimits(config.ulimits),
    shm_size: renderBytes(config.shmSize),
    extra_hosts: config.extraHosts?.map(({ key, value }) => `${key}=${value}`),
    logging: renderLogging(config.logConfig),
    labels: renderPairs(config.dockerLabels),
    deploy: renderDeploy(config),
  })
}

const restartPolicies = {
  no: 'no',
  always: 'always',
  onFailure: 'on-failure',
  unlessStopped: 'unless-stopped',
} as const satisfies Record<NonNullable<Config['restartPolicy']>, string>

/** Leaves out what has no value. */
const present = (members: Record<string, Member>): ComposeRecord => {
  const record: ComposeRecord = {}
  for (const [name, value] of Object.entries(members)) if (value !== undefined && !isEmpty(value)) record[name] = value
  return record
}

const isEmpty = (value: ComposeValue) =>
  typeof value === 'object' && value !== null && (Array.isArray(value) ? value : Object.keys(value)).length === 0

const renderArguments = (rows: Config['args']): Member => rows?.map(({ key }) => key)

const renderSeconds = (seconds: number | null | undefined): Member =>
  typeof seconds === 'number' ? `${seconds}s` : undefined

/** As a mapping, or as a list where names are numbers: a mapping would sort them first. Removed keys are only in the extension. */
function renderPairs(rows: Config['environment']): Member {
  const set = (rows ?? []).flatMap(({ key, value }) => (value === null ? [] : [{ key, value }]))
  if (set.some(({ key }) => /^\d+$/.test(key) || key === '__proto__'))
    return set.map(({ key, value }) => `${key}=${value}`)
  return Object.fromEntries(set.map(({ key, value }) => [key, value]))
}

const renderPorts = ({ ports, portRanges }: Config): Member => [
  ...(ports ?? []).flatMap((row) => (row.external ? [formatPort(row)] : [])),
  ...(portRanges ?? []).map(formatPortRange),
]

/** Ports that only other containers reach. */
const renderExpose = ({ ports }: Config): Member =>
  (ports ?? []).flatMap(({ internal, external, protocol }) =>
    external ? [] : [protocol === 'udp' ? `${internal}/udp` : `${internal}`],
  )

function renderVolume({ name, path, type, size }: NonNullable<Config['volumes']>[number]): ComposeValue {
  if (type === 'mem' || type === 'tmp') {
    const bytes = size ? bytesOfQuantity(size) : undefined
    return { type: 'tmpfs', target: path, ...(bytes && { tmpfs: { size: bytes } }) }
  }
  const isReadOnly = type === 'ro'
  if (!`${name}${path}`.includes(':')) return `${name}:${path}${isReadOnly ? ':ro' : ''}`
  return {
    type: name.startsWith('/') ? 'bind' : 'volume',
    source: name,
    target: path,
    ...(isReadOnly && { read_only: true }),
  }
}

/** A service with networks is not on the default one of Compose unless it names it, but in Crux it is always on that of its deployment. */
function renderNetworking({ networkMode, networks }: Config): Record<string, Member> {
  if (networkMode === 'host' || networkMode === 'none') return { network_mode: networkMode }
  if (!networks?.length) return {}
  return { networks: ['default', ...networks.map(({ key }) => toNetworkName(key))] }
}

function renderHealthCheck(health: Config['healthCheckConfig']): Member {
  if (!health) return undefined
  if (health.test === 'none') return { disable: true }
  const program = health.test === 'exec' ? (health.arguments ?? []).map(({ key }) => key) : []
  return present({
    test: program.length > 0 ? ['CMD', ...program] : health.command?.trim() ? health.command : undefined,
    interval: renderSeconds(health.intervalSeconds),
    timeout: renderSeconds(health.timeoutSeconds),
    start_period: renderSeconds(health.startPeriodSeconds),
    retries: health.retries ?? undefined,
  })
}

const renderCapabilities = ({ capabilities }: Config, wanted: 'add' | 'drop'): Member =>
  (capabilities ?? []).flatMap(({ key, value }) => (value === wanted ? [key] : []))

const renderUlimits = (rows: Config['ulimits']): Member =>
  Object.fromEntries((rows ?? []).map(({ key, soft, hard }) => [key, soft === hard ? soft : { soft, hard }]))

/** Sizes in the units of Compose, which are binary. */
function renderBytes(quantity: string | null | undefined): Member {
  const bytes = quantity ? bytesOfQuantity(quantity) : undefined
  if (!bytes) return undefined
  for (const [unit, factor] of [
    ['g', 1024 ** 3],
    ['m', 1024 ** 2],
    ['k', 1024],
  ] as const)
    if (bytes % factor === 0) return `${bytes / factor}${unit}`
  return `${bytes}b`
}

function renderLogging(log: Config['logConfig']): Member {
  if (!log || log.driver === 'nodeDefault') return undefined
  return present({
    driver: log.driver,
    options: Object.fromEntries((log.options ?? []).map(({ key, value }) => [key, value])),
  })
}

function renderDeploy({ replicas, resourceConfig, labels }: Config): Member {
  const side = (amounts: NonNullable<Config['resourceConfig']>['limits']): Member => {
    const millis = amounts?.cpu ? millisOfCores(amounts.cpu) : undefined
    return present({ cpus: millis ? String(millis / 1_000) : undefined, memory: renderBytes(amounts?.memory) })
  }
  return present({
    replicas: replicas ?? undefined,
    resources: present({ limits: side(resourceConfig?.limits), reservations: side(resourceConfig?.requests) }),
    labels: renderPairs(labels?.deployment),
  })
}
