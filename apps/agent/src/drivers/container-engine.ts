/** The steps of a deployment on an engine that runs single containers, in words of no SDK. Errors are EngineErrors. */
export interface ContainerEngine {
  /** Digest that a registry has for a tag. */
  resolveDigest(image: ImageReference, auth: RegistryCredentials | undefined): Promise<string>
  /** An image of the engine's own store, or undefined. */
  findImage(reference: string): Promise<ImageFacts | undefined>
  pull(image: PullOrder): Promise<void>
  /** Gives an image of the store a readable name. */
  tag(imageId: string, image: ImageReference): Promise<void>
  /** Every container of the node, running or not. */
  observeAll(): Promise<ContainerSummary[]>
  observe(id: string): Promise<ObservedContainer>
  findByName(name: string): Promise<ObservedContainer | undefined>
  /** Networks that carry the label. */
  observeNetworks(labelled: string): Promise<ObservedNetwork[]>
  ensureNetwork(network: NetworkSpec): Promise<void>
  /** Leaves it where a container, running or not, belongs to it. */
  removeNetworkIfUnused(name: string): Promise<void>
  /** @throws EngineError `conflict` when the name is taken */
  create(container: ContainerSpec): Promise<string>
  start(id: string): Promise<void>
  stop(id: string): Promise<void>
  /** Removes with force; anonymous volumes stay. Nothing happens when it is gone. */
  discard(id: string): Promise<void>
  rename(id: string, name: string): Promise<void>
  setRestartPolicy(id: string, policy: RestartPolicy): Promise<void>
  /** Nothing happens when it is a member already. */
  joinNetwork(id: string, network: string, aliases: readonly string[]): Promise<void>
  /** Who listens on a port of the node beside the engine's containers, as far as can be seen from here. */
  portTakenByProcess(port: PublishedPort): Promise<boolean>
}

export interface ImageReference {
  name: string
  tag: string
}
export interface RegistryCredentials {
  serverAddress: string
  username: string
  password: string
}
export interface PullOrder {
  image: ImageReference
  digest: string
  auth: RegistryCredentials | undefined
  onProgress: (progress: { currentBytes: number; totalBytes: number; status: string }) => void
  signal: AbortSignal
}
export interface ImageFacts {
  id: string
  /** "name@sha256:..." as the store knows it. */
  repoDigests: readonly string[]
  volumes: readonly string[]
  hasHealthCheck: boolean
  user: string
}

export interface PublishedPort {
  hostPort: number
  protocol: 'tcp' | 'udp'
  /** Empty: all addresses. */
  address: string
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
  startedAt: string
  health: 'none' | 'starting' | 'healthy' | 'unhealthy'
  /** Last words of the failing health check. */
  healthOutput: string
  restartPolicy: RestartPolicy
  published: readonly PublishedPort[]
  hostNetwork: boolean
  mounts: readonly { source: string; target: string; writable: boolean }[]
  networks: readonly { name: string; address: string; aliases: readonly string[] }[]
}

export interface NetworkSpec {
  name: string
  labels: Record<string, string>
  /** Without a way out: it never becomes a container's default route. */
  internal: boolean
}

export interface ObservedNetwork {
  name: string
  labels: Record<string, string>
  createdAt: Date
  /** Whether a container, running or not, belongs to it. */
  used: boolean
}

export interface Mount {
  target: string
  kind: 'bind' | 'memory'
  /** Path as the engine's host sees it; for `bind`. */
  source: string
  writable: boolean
  /** For `memory`. */
  sizeBytes?: number
}

export interface ContainerSpec {
  name: string
  image: ImageReference
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
  published: readonly (PublishedPort & { containerPort: number })[]
  mounts: readonly Mount[]
  /** `host`, `none`, or the name of the network that it is created on. */
  networkMode: string
  /** Names under which others of the first network find it. */
  aliases: readonly string[]
  /** "container:name" pairs: other names that this container alone knows, followed when the target is renamed. */
  links: readonly string[]
  /** Further networks, joined before the start. */
  networks: readonly { name: string; aliases: readonly string[] }[]
  log: { driver: string; options: Record<string, string> } | undefined
  capabilities: { add: readonly string[]; drop: readonly string[] }
}
