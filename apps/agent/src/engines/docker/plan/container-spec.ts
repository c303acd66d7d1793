import type { Instance, Release } from '@crux/agent-protocol'
import { type FinalContainerConfig, patterns } from '@crux/contract'
import { capabilityName, type Route } from '@crux/rules'
import { getMessage, PlanError } from '../../../errors.ts'
import { desiredRoutes } from '../../desired-routes.ts'
import { isDigestName } from '../../images/image-reference.ts'
import { parseInstanceConfig, refuseDangerous } from '../../instance-config.ts'
import { label, releaseLabels } from '../../labels.ts'
import { fullName } from '../../names.ts'
import type { ContainerSpec, GatedPort, Mount, RestartPolicy } from '../containers/container-engine.ts'
import { gateLabel, getDrainSeconds } from '../containers/gated-ports.ts'
import { networkName } from '../containers/names.ts'
import { toMounts, type VolumeDirectory } from './mounts.ts'
import { type DesiredNetwork, desiredNetworks } from './networks.ts'
import { type Preparation, toPreparations, writtenSources } from './preparations.ts'
import { countBytes, toHealthCheck, toResources } from './resources.ts'
import { routingLabels } from './routing-labels.ts'
import { userLabels } from './user-labels.ts'

export interface NodeEnvironment {
  dataMountPath: string
  rootDomain: string | undefined
  /** Whether paths of the node are paths of the agent's process too: not when it runs in a container. */
  seesHost: boolean
  /** The address under which the agent connects to Crux: no container may be routed under that host name. */
  serverUrl?: string | undefined
}

/** An instance of a release, parsed and validated, before its image is known. */
export interface DesiredInstance {
  instanceId: string
  full: string
  config: FinalContainerConfig
  image: { name: string; tag: string }
  /** All but what depends on the image, on neighbours and on secrets. */
  base: Omit<ContainerSpec, 'name' | 'aliases' | 'links' | 'networks'>
  /** Networks that the configuration names, besides the prefix's own. */
  networks: readonly DesiredNetwork[]
  /** Host names and paths that the node's proxy routes to it. */
  routes: readonly Route[]
  directories: readonly VolumeDirectory[]
  /** Preparations that run before the container starts, in order. */
  preparations: readonly Preparation[]
  /** Sources of mounts that the instance writes: by its container or by a preparation. */
  written: ReadonlySet<string>
}

/** @throws PlanError for a configuration that cannot be applied as a whole: a setting is never silently left out */
export function toDesiredInstance(
  release: Release,
  instance: Instance,
  nodeEnvironment: NodeEnvironment,
): DesiredInstance {
  const { instanceId } = instance
  try {
    return desiredFrom(release, instance, parseInstanceConfig(instance), nodeEnvironment)
  } catch (error) {
    throw error instanceof PlanError ? error : new PlanError(instanceId, getMessage(error), { cause: error })
  }
}

function desiredFrom(
  release: Release,
  instance: Instance,
  config: FinalContainerConfig,
  { dataMountPath, rootDomain, seesHost, serverUrl }: NodeEnvironment,
): DesiredInstance {
  const { owner, hostDangerousAllowed } = release
  if (!owner) throw new Error('the release names no owner')
  const { prefix } = owner
  const full = fullName(prefix, config.name)
  refuseNames(instance, prefix, full)
  refuseDangerous(config, hostDangerousAllowed)
  const network = networkName(owner)
  const mode = getMode(config, network)
  const { mounts, directories, volumes } = toMounts(config, { prefix, dataMountPath, hostDangerousAllowed })
  const preparations = toPreparations(config, volumes, { seesHost, hasStorage: instance.storage !== undefined })
  const networks = desiredNetworks(config, owner, release)
  const labels = {
    ...routingLabels(config, { full, prefix, network, rootDomain }),
    ...userLabels(config, release),
    ...ownLabels(release, instance, config),
  }
  const image = { name: instance.imageName, tag: instance.imageTag }
  const ports = mode === network ? toPorts(config) : { published: [], gated: [] }
  return {
    instanceId: instance.instanceId,
    full,
    config,
    image,
    networks: mode === network ? networks : [],
    routes: desiredRoutes(config, { prefix, rootDomain, serverUrl, hostDangerousAllowed }),
    directories,
    preparations,
    written: new Set([
      ...mounts.filter(({ kind, writable }) => kind === 'bind' && writable).map(({ source }) => source),
      ...writtenSources(preparations, volumes),
    ]),
    base: {
      ...specFrom(config),
      ...ports,
      image,
      hostname: toHostname(full, ports.published.length > 0, mounts),
      labels: { ...labels, ...gateLabel(ports.gated, getDrainSeconds(config)) },
      mounts,
      networkMode: mode,
    },
  }
}

/** What follows from the configuration alone. */
function specFrom(
  config: FinalContainerConfig,
): Omit<DesiredInstance['base'], 'image' | 'hostname' | 'labels' | 'published' | 'gated' | 'mounts' | 'networkMode'> {
  const defaultPolicy = config.expectedState?.state === 'exited' ? 'no' : 'unlessStopped'
  return {
    environment: Object.fromEntries(config.environment.map(({ key, value }) => [key, value])),
    entrypoint: config.commands.map(({ key }) => key),
    command: config.args.map(({ key }) => key),
    workingDirectory: config.workingDirectory || undefined,
    user: config.user === undefined || config.user === null || config.user < 0 ? undefined : String(config.user),
    tty: config.tty ?? false,
    restartPolicy: restartPolicies[config.restartPolicy ?? defaultPolicy],
    exposed: config.ports.map(({ internal, protocol }) => ({ port: internal, protocol: protocol ?? 'tcp' })),
    log: toLogConfig(config),
    capabilities: { add: toCapabilities(config, 'add'), drop: toCapabilities(config, 'drop') },
    healthCheck: toHealthCheck(config),
    resources: toResources(config),
    ulimits: (config.ulimits ?? []).map(({ key, soft, hard }) => ({ name: key, soft, hard })),
    shmSizeBytes: countBytes('shared memory', config.shmSize),
    stopSignal: config.stopSignal || undefined,
    stopGracePeriodSeconds: config.stopGracePeriodSeconds ?? undefined,
    extraHosts: (config.extraHosts ?? []).map(({ key, value }) => ({ name: key, address: value })),
  }
}

function refuseNames({ imageName, imageTag }: Instance, prefix: string, full: string): void {
  if (!patterns.dnsLabel.test(prefix)) throw new Error(`the prefix "${prefix}" is not a DNS label`)
  if (full.length > 63 || !patterns.dnsLabel.test(full))
    throw new Error(`the container name ${full} is not a DNS label of at most 63 characters`)
  if (isDigestName(imageName)) throw new Error(`${imageName}:${imageTag} is the id of an image`)
}

/** Traefik connects to a container over its network, so exposing one overrides any other mode. */
function getMode(config: FinalContainerConfig, network: string): string {
  const exposed = config.expose !== undefined && config.expose !== null && config.expose !== 'none'
  const mode = exposed || !config.networkMode || config.networkMode === 'bridge' ? network : config.networkMode
  const { startupProbe, readinessProbe } = config.healthCheckConfig ?? {}
  if (mode === 'none' && (startupProbe || readinessProbe))
    throw new Error('a probe cannot reach a container without a network')
  return mode
}

/**
 * Docker resolves a hostname as an alias on every network, before the container is verified and until it is removed. So only a container
 * that never runs beside its successor (it holds a host port or writes to a volume) has its full name as hostname; others have their id.
 */
function toHostname(full: string, publishes: boolean, mounts: readonly Mount[]): string | undefined {
  return publishes || mounts.some((mount) => mount.kind === 'bind' && mount.writable) ? full : undefined
}

const restartPolicies: Record<NonNullable<FinalContainerConfig['restartPolicy']>, RestartPolicy> = {
  no: { name: 'no' },
  always: { name: 'always' },
  onFailure: { name: 'on-failure' },
  unlessStopped: { name: 'unless-stopped' },
}

function toCapabilities(config: FinalContainerConfig, wanted: 'add' | 'drop'): string[] {
  return (config.capabilities ?? [])
    .filter(({ value }) => value.toLowerCase() === wanted)
    .map(({ key }) => capabilityName(key))
}

/** With a gate, the engine publishes only ports that are not TCP, and the gate holds the rest. */
function toPorts(config: FinalContainerConfig): Pick<ContainerSpec, 'published' | 'gated'> {
  const published = toPublished(config)
  if (!config.portGate?.enabled) return { published, gated: [] }
  return {
    published: published.filter(({ protocol }) => protocol !== 'tcp'),
    gated: published.filter(({ protocol }) => protocol === 'tcp'),
  }
}

function toPublished(config: FinalContainerConfig): readonly GatedPort[] {
  const single = config.ports.flatMap(({ internal, external, protocol, bindAddress, proxyProtocol }) =>
    external
      ? [
          {
            containerPort: internal,
            hostPort: external,
            protocol: protocol ?? ('tcp' as const),
            address: bindAddress ?? '',
            ...(proxyProtocol ? { proxyProtocol } : {}),
          },
        ]
      : [],
  )
  const ranges = config.portRanges.flatMap(({ internal, external }) =>
    Array.from({ length: internal.to - internal.from + 1 }, (_, index) => ({
      containerPort: internal.from + index,
      hostPort: external.from + index,
      protocol: 'tcp' as const,
      address: '',
    })),
  )
  return [...single, ...ranges]
}

function ownLabels(release: Release, instance: Instance, config: FinalContainerConfig): Record<string, string> {
  const secretKeys = config.secrets.map(({ key }) => key)
  return {
    ...releaseLabels(release),
    [label.instance]: instance.instanceId,
    [label.name]: config.name,
    ...(secretKeys.length > 0 ? { [label.secretKeys]: secretKeys.join(',') } : {}),
  }
}

function toLogConfig(config: FinalContainerConfig): ContainerSpec['log'] {
  if (!config.logConfig || config.logConfig.driver === 'nodeDefault') return undefined
  return {
    driver: config.logConfig.driver,
    options: Object.fromEntries((config.logConfig.options ?? []).map(({ key, value }) => [key, value])),
  }
}
