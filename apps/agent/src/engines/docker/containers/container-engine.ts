import type { Readable } from 'node:stream'
import type { ContainerView, EngineDescription } from '../../engine.ts'
import type { ImageReference, RegistryCredentials } from '../../images/image-reference.ts'

/** The steps of a deployment on an engine that runs single containers, without types of an SDK. Errors are EngineErrors. */
export interface ContainerEngine {
  /** Returns the digest that a registry has for a tag. */
  resolveDigest(image: ImageReference, auth: RegistryCredentials | undefined, signal: AbortSignal): Promise<string>
  /**
   * Asks the registry whether it grants an image to these credentials, wherever the image is stored already.
   *
   * @throws EngineError `unauthorized`, `not-found` or `registry-unavailable`, as `pull` would
   */
  checkAccess(
    image: { name: string; digest: string },
    auth: RegistryCredentials | undefined,
    signal: AbortSignal,
  ): Promise<void>
  /** Returns an image of the engine's own store, or undefined. */
  findImage(reference: string): Promise<ImageMetadata | undefined>
  pull(image: PullOrder): Promise<void>
  /** Gives an image of the store a readable name. */
  tag(imageId: string, image: ImageReference): Promise<void>
  /** Returns every container of the node, running or not. */
  observeAll(): Promise<ContainerSummary[]>
  observe(id: string): Promise<ObservedContainer>
  findByName(name: string): Promise<ObservedContainer | undefined>
  /** Returns the networks that have the label. */
  observeNetworks(labelled: string): Promise<ObservedNetwork[]>
  /** Returns the networks with exactly this name; the engine allows several. */
  findNetworks(name: string): Promise<Pick<ObservedNetwork, 'name' | 'labels'>[]>
  /** Creates the network if there is none of the name. @throws EngineError `refused` when there is one without the labels */
  ensureNetwork(network: NetworkSpec): Promise<void>
  /** Keeps the network if a container, running or not, is connected to it. */
  removeNetworkIfUnused(name: string): Promise<void>
  /** @throws EngineError `conflict` when the name is taken */
  create(container: ContainerSpec): Promise<string>
  start(id: string): Promise<void>
  /** Waits for the container's own grace period, and until the engine has killed it after that. */
  stop(id: string): Promise<void>
  /** Removes with force. Does nothing if the container does not exist. Its anonymous volumes stay unless the option includes them. */
  discard(id: string, options?: { anonymousVolumes: boolean }): Promise<void>
  /** Resolves with the exit code when the container has ended. */
  waitForExit(id: string, signal: AbortSignal): Promise<number>
  /** Returns a file or directory of a container, which need not run, as a tar archive; follows a path that is a link. */
  readArchive(id: string, path: string, signal: AbortSignal): Promise<Readable>
  rename(id: string, name: string): Promise<void>
  setRestartPolicy(id: string, policy: RestartPolicy): Promise<void>
  /** Does nothing if it is a member already. */
  joinNetwork(id: string, network: string, aliases: readonly string[]): Promise<void>
  /** Whether a process other than the engine's containers listens on a port of the node, as far as this process can see. */
  portTakenByProcess(port: PublishedPort): Promise<boolean>
  /** Returns all images of the store. */
  listImages(): Promise<StoredImage[]>
  /** Removes an image with all its names. @throws EngineError `conflict` when a container uses it */
  removeImage(id: string): Promise<void>
}

export interface PullOrder {
  image: ImageReference
  digest: string
  auth: RegistryCredentials | undefined
  onProgress: (progress: { currentBytes: number; totalBytes: number; status: string }) => void
  signal: AbortSignal
}
export interface ImageMetadata {
  id: string
  /** "name@sha256:..." as stored. */
  repoDigests: readonly string[]
  volumes: readonly string[]
  hasHealthCheck: boolean
  labels: Readonly<Record<string, string>>
}

export interface StoredImage {
  id: string
  /** "name:tag" and "name@sha256:...". */
  references: readonly string[]
  sizeBytes: number
  createdAt: Date
  /** The containers, running or not, that use it. */
  containers: readonly ImageUser[]
}

export interface ImageUser {
  name: string
  labels: Readonly<Record<string, string>>
  /** As the container names its image: "name:tag", or an id. */
  image: string
}

export interface PublishedPort {
  hostPort: number
  protocol: 'tcp' | 'udp'
  /** Empty: all addresses. */
  address: string
}
/** A port that the node's gate holds and routes to the container: the engine does not publish it. */
export interface GatedPort extends PublishedPort {
  containerPort: number
  proxyProtocol?: 'v1' | 'v2'
}
export interface RestartPolicy {
  name: 'no' | 'always' | 'on-failure' | 'unless-stopped'
  maximumRetries?: number
}

export interface ContainerSummary {
  id: string
  name: string
  labels: Record<string, string>
  imageId: string
  running: boolean
  published: readonly PublishedPort[]
  /** As its label lists them; only the gate knows whether it holds them. */
  gated: readonly GatedPort[]
  hostNetwork: boolean
}

export interface ObservedContainer {
  id: string
  name: string
  labels: Record<string, string>
  imageId: string
  state: 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead'
  exitCode: number
  outOfMemory: boolean
  restartCount: number
  health: 'none' | 'starting' | 'healthy' | 'unhealthy'
  /** The last output of the failing health check. */
  healthOutput: string
  restartPolicy: RestartPolicy
  published: readonly PublishedPort[]
  gated: readonly GatedPort[]
  hostNetwork: boolean
  mounts: readonly { source: string; target: string; writable: boolean }[]
  networks: readonly { name: string; address: string; aliases: readonly string[] }[]
}

export interface NetworkSpec {
  name: string
  labels: Record<string, string>
  /** An internal network has no route to the outside, so it never becomes a container's default route. */
  internal: boolean
}

export interface ObservedNetwork {
  name: string
  labels: Record<string, string>
  createdAt: Date
  /** Whether a container, running or not, is connected to it. */
  used: boolean
}

export type Mount = BindMount | MemoryMount
interface BindMount {
  kind: 'bind'
  target: string
  /** Path as the engine's host sees it. */
  source: string
  writable: boolean
}
/** Without a size the kernel allows half of the node's memory, so there is always a size. */
interface MemoryMount {
  kind: 'memory'
  target: string
  source: ''
  writable: true
  sizeBytes: number
}

export interface ContainerSpec {
  name: string
  /** With `id`, exactly that image, whatever the name refers to now. */
  image: ImageReference & { id?: string }
  hostname: string | undefined
  environment: Record<string, string>
  labels: Record<string, string>
  entrypoint: readonly string[]
  command: readonly string[]
  workingDirectory: string | undefined
  user: string | undefined
  tty: boolean
  restartPolicy: RestartPolicy
  exposed: readonly { port: number; protocol: 'tcp' | 'udp' }[]
  /** A `hostPort` of 0 means any free port. */
  published: readonly (PublishedPort & { containerPort: number })[]
  /** Ports of the gate; the engine ignores them. */
  gated: readonly GatedPort[]
  mounts: readonly Mount[]
  /** `host`, `none`, or the name of the network that it is created on. */
  networkMode: string
  /** Names under which other containers of the first network find it. */
  aliases: readonly string[]
  /** "container:name" pairs: other names that only this container resolves; they follow a rename of the target. */
  links: readonly string[]
  /** Further networks, joined before the start. */
  networks: readonly { name: string; aliases: readonly string[] }[]
  log: { driver: string; options: Record<string, string> } | undefined
  capabilities: { add: readonly string[]; drop: readonly string[] }
  /** Undefined: as the image defines it. */
  healthCheck: HealthCheck | undefined
  resources: Resources
  ulimits: readonly { name: string; soft: number; hard: number }[]
  shmSizeBytes: number | undefined
  /** Undefined: as the image or the engine defines it. */
  stopSignal: string | undefined
  stopGracePeriodSeconds: number | undefined
  /** Lines of its /etc/hosts; `host-gateway` as address is the node. */
  extraHosts: readonly { name: string; address: string }[]
}

export interface HealthCheck {
  /** In the form of the engine: `CMD`, `CMD-SHELL` or `NONE` first; undefined: the image's own test, at the times below. */
  test: readonly string[] | undefined
  intervalMs: number | undefined
  timeoutMs: number | undefined
  startPeriodMs: number | undefined
  retries: number | undefined
}

export interface Resources {
  /** In thousandths of a core. */
  cpuLimitMillis?: number
  memoryLimitBytes?: number
  /** Its share relative to other containers when cores are short. */
  cpuRequestMillis?: number
  memoryRequestBytes?: number
}

/** Docker as the rest of this engine uses it, without types of an SDK. `apply/` runs the deployment through `engine`. */
export interface Driver extends ContainerView {
  describe(): Promise<EngineDescription>
  engine: ContainerEngine
  close(): void
}
