import type { ContainerConfigField } from '@crux/contract'

/** Whether any member of the team may set an option, or `hostDangers` checks its value and reserves dangerous ones to admins. */
export type OptionJudgement = {
  /** The fields of the engine's create call that the agent sets because of it; `*` stands for free-text keys. */
  engine: readonly string[]
  verdict: 'safe' | 'judged'
  why: string
}

const safe = (why: string, ...engine: string[]): OptionJudgement => ({ engine, verdict: 'safe', why })

const judged = (why: string, ...engine: string[]): OptionJudgement => ({ engine, verdict: 'judged', why })

const onKubernetes = (why: string) => safe(`On Docker ${why}`)

/**
 * The reason why each setting is safe for a user, or which of its values are not. A setting without an entry here does not compile, an engine option
 * without one fails a test, and docs/security.md shows this table.
 */
export const fieldJudgements: Readonly<Record<ContainerConfigField, OptionJudgement>> = {
  name: safe(
    'A DNS label behind the prefix; a container that is not of the same owner is never replaced',
    'name',
    'Hostname',
  ),
  environment: judged(
    'Only the container reads it. `VIRTUAL_HOST` and its like, by which proxies on the node route host names, are for admins',
    'Env',
  ),
  secrets: judged(
    'Only the container reads them, and the agent opens them for it alone. Names by which proxies on the node route are for admins, as in `environment`',
    'Env',
  ),
  commands: safe('Runs inside the container, without a shell of the node', 'Entrypoint'),
  args: safe('As `commands`', 'Cmd'),
  user: safe('A number inside the container; root there has only the capabilities that are granted', 'User'),
  workingDirectory: safe('The engine resolves it inside the container', 'WorkingDir'),
  tty: safe('A terminal of the container; logs are cleaned where they are shown', 'Tty'),
  ports: safe(
    'Any port and address of the node that is free, those below 1024 too; one that is held is refused',
    'ExposedPorts.*',
    'HostConfig.PortBindings.*.HostIp',
    'HostConfig.PortBindings.*.HostPort',
  ),
  portRanges: safe('As `ports`', 'HostConfig.PortBindings.*.HostIp', 'HostConfig.PortBindings.*.HostPort'),
  portGate: safe('The gate listens on published ports alone'),
  volumes: judged(
    "Paths of the node are for admins; `ro` there holds for the path's own file system, not for what is mounted below it. So are more than 1Gi of files in memory without a memory limit. Without a size a memory volume has 64Mi",
    'HostConfig.Mounts.Type',
    'HostConfig.Mounts.Target',
    'HostConfig.Mounts.Source',
    'HostConfig.Mounts.ReadOnly',
    'HostConfig.Mounts.TmpfsOptions.SizeBytes',
    'HostConfig.Mounts.TmpfsOptions.Mode',
  ),
  configContainer: judged(
    'To write into a path of the node is for admins. The container is never started; the agent follows no link in the volume',
  ),
  storage: judged(
    'To write into a path of the node is for admins. Only admins connect storages; everybody may read every bucket of one',
  ),
  initContainers: judged(
    "To link a path of the node is for admins, since they write also what the container may only read. They have no capabilities, ports or limits of their own, and the prefix's network",
  ),
  capabilities: judged(
    "To add one is for admins, except those that Docker gives to every container anyway, NET_RAW and MKNOD among them: a device that is made cannot be opened, and raw packets stay on the container's own networks",
    'HostConfig.CapAdd',
    'HostConfig.CapDrop',
  ),
  ulimits: judged(
    '`rtprio`, `nice`, `memlock` and `sigpending` are for admins. The others bound one process, are unlimited anyway in Docker (`core`, `nproc`), are bounded by the kernel (`nofile`, `msgqueue`), or do nothing any more (`locks`, `rss`)',
    'HostConfig.Ulimits.Name',
    'HostConfig.Ulimits.Soft',
    'HostConfig.Ulimits.Hard',
  ),
  shmSize: judged(
    'Counts with the memory volumes: more than 1Gi together without a memory limit is for admins',
    'HostConfig.ShmSize',
  ),
  resourceConfig: safe(
    'Without limits a container may use all cores, all memory and all process ids of the node, as is the default of Docker: who shares a node shares them. A request only weighs while cores are short, as more containers would',
    'HostConfig.NanoCpus',
    'HostConfig.Memory',
    'HostConfig.MemorySwap',
    'HostConfig.CpuShares',
    'HostConfig.MemoryReservation',
  ),
  logConfig: judged(
    "Other drivers than `nodeDefault`, `json-file`, `local` and `none` are for admins, and every option that is not known to be harmless: addresses, paths, templates, large buffers. Files of `json-file` without `max-size` grow with the disk, as the container's own files do",
    'HostConfig.LogConfig.Type',
    'HostConfig.LogConfig.Config.*',
  ),
  restartPolicy: safe(
    'The engine waits longer before each further restart',
    'HostConfig.RestartPolicy.Name',
    'HostConfig.RestartPolicy.MaximumRetryCount',
  ),
  stopSignal: safe('A signal to the container alone', 'StopSignal'),
  stopGracePeriodSeconds: safe(
    'At most an hour; the engine waits as long when it is itself stopped, and a deployment only for its own containers',
    'StopTimeout',
  ),
  expectedState: safe('Says when a start has succeeded; at most a day'),
  healthCheckConfig: safe(
    "The test runs inside the container, and can be switched off, which hides only its own failure; probes go from the agent to the container's own address and follow no redirect",
    'Healthcheck.Test',
    'Healthcheck.Interval',
    'Healthcheck.Timeout',
    'Healthcheck.StartPeriod',
    'Healthcheck.Retries',
  ),
  networkMode: judged(
    '`host` is for admins; it reaches the loopback of the node. Any container reaches what the node routes, a metadata service of a cloud too: close that on the node',
    'HostConfig.NetworkMode',
    'NetworkingConfig.EndpointsConfig.*',
  ),
  networks: judged("A plain key is the team's own network; one of the engine (`engine:NAME`) is for admins"),
  extraHosts: safe(
    "Names of the container's own; `host-gateway` is an address that each container has on its route anyway",
    'HostConfig.ExtraHosts',
  ),
  dockerLabels: judged(
    'Labels that other software on the node obeys are for admins or refused for everybody',
    'Labels.*',
  ),
  expose: safe('Labels that the agent makes for the container alone', 'Labels.*'),
  routing: safe(
    'Host names and paths are checked before they stand in a rule; those of another owner are refused',
    'Labels.*',
  ),
  deploymentStrategy: onKubernetes('it does nothing'),
  replicas: onKubernetes('it does nothing'),
  customHeaders: onKubernetes('they do nothing'),
  proxyHeaders: onKubernetes('they do nothing'),
  useLoadBalancer: onKubernetes('it does nothing'),
  extraLBAnnotations: onKubernetes('they do nothing'),
  labels: onKubernetes('they do nothing'),
  annotations: onKubernetes('they do nothing'),
  metrics: onKubernetes('it does nothing'),
}

/** Options that the agent sets by itself, for any configuration. */
export const computedJudgements: Readonly<Record<string, OptionJudgement>> = {
  'image and tag': safe(
    'Always the id of the image that was resolved from a name; `sha256:...` is no name, so images of others are not run by their id. A pinned digest is asked of the repository of the image, and refused for images of the node itself',
    'Image',
  ),
  'names on the network of the prefix': safe(
    'Made from names of containers of the same prefix',
    'NetworkingConfig.EndpointsConfig.*.Aliases',
    'NetworkingConfig.EndpointsConfig.*.Links',
  ),
}
