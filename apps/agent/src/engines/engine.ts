import type { MessageInitShape } from '@bufbuild/protobuf'
import type {
  ClaimKey,
  Container,
  ContainerRef,
  DeletedPrefixData,
  EngineKind,
  FindPortHolders,
  HostPort,
  MachineListSchema,
  ObjectDifference,
  Operation,
  PrefixData,
  Release,
} from '@crux/agent-protocol'
import type { EngineScope } from '@crux/rules'
import type { Journal } from '../journal/journal.ts'
import type { OwnerIds } from './labels.ts'

export interface EngineDescription {
  kind: EngineKind
  /** As it names itself: "Docker 20.10.24". */
  version: string
  operatingSystem: string
  /** "amd64", "arm64". */
  architecture: string
  /** Name of the container that this process runs in; empty outside of a container. */
  ownContainer: string
}

/** An event of a container. `relist`: events may have been missed, so everything must be listed again. */
export type EngineEvent =
  | { kind: 'relist' }
  | { kind: 'container'; action: string; id: string; name: string; labels: Record<string, string> }

export interface LogChunkLine {
  seconds: bigint
  nanos: number
  stderr: boolean
  text: string
}

export interface LogRequest {
  /** Only the lines of this pod of a workload; other engines have none. */
  pod?: string | undefined
  /** How many of the last lines come first; undefined: all. */
  take: number | undefined
  follow: boolean
  /** Only lines at or after this moment. */
  since?: { seconds: bigint; nanos: number }
  signal?: AbortSignal
}

/** The part of a prefix that a command may access. */
export interface PrefixTarget {
  prefix: string
  scope: EngineScope
}

export interface FoundContainer {
  /** Engine id. */
  id: string
  labels: Readonly<Record<string, string>>
}

export interface ListedImage {
  id: string
  references: string[]
  sizeBytes: bigint
  createdAt: Date
  /** Names of the containers of the scope that use it. */
  containers: string[]
  /** Whether a release of this agent fetched it, so that it may be removed. */
  fetched: boolean
  /** Whether it was built or loaded on the node. */
  local: boolean
  usedByOthers: boolean
}

export interface RemovedImages {
  imageIds: string[]
  freedBytes: bigint
  kept: { imageId: string; reason: string }[]
}

export interface MachineRequest {
  /** Part of a name; empty: all. */
  search: string
  skip: number
  /** At most 250 are listed. */
  take: number
}

/** The containers of a node, for pages and commands. */
export interface ContainerView {
  /** All containers of the node, or those of a prefix, as of the engine's events until the call or later. */
  list(filter: { prefix?: string }): Promise<Container[]>
  /** The containers of the given engine ids that still exist, as of the last event that a subscriber received or later. */
  view(ids: readonly string[]): Promise<Container[]>
  /** Finds a container by its name, of any owner; undefined when there is none, or when it is not one of the given prefix. */
  find(ref: Pick<ContainerRef, 'prefix' | 'name'>): Promise<FoundContainer | undefined>
  /** The engine's own description as JSON, with values of secrets replaced. */
  inspect(id: string): Promise<string>
  operate(id: string, operation: Operation): Promise<void>
  /** Stops and removes the container; its volumes stay. */
  remove(id: string): Promise<void>
  /** Lines in batches, as the engine delivers them; the engine sends no faster than the caller reads. */
  readLog(id: string, request: LogRequest): AsyncIterable<LogChunkLine[]>
  /** Calls back for every event until the returned function is called; starts with `relist`, and sends it again after every interruption. */
  subscribe(listener: (event: EngineEvent) => void): () => void
}

/** An image of the agent, and the name by which it was pulled or loaded. */
export interface AgentImage {
  id: string
  reference: string
}

/** The containers of this agent and of the one that replaces it in an update. Errors are EngineErrors. */
export interface AgentContainers {
  /** The container that this process runs in. */
  readonly own: { id: string; name: string; imageId: string }
  pullImage(reference: string): Promise<AgentImage>
  /** Loads an image in `docker save` form. */
  loadImage(content: AsyncIterable<Uint8Array>): Promise<AgentImage>
  /** Gives the own container another name, and starts one like it from another image under the name. */
  startSuccessor(successor: { updateId: string; name: string; image: AgentImage }): Promise<void>
  /** Why the new agent cannot be expected any more, for users; undefined while it runs and was never started again. */
  findSuccessorFailure(updateId: string, name: string): Promise<string | undefined>
  removeSuccessor(updateId: string, name: string): Promise<void>
  /** Gives the own container its name back. */
  restoreName(name: string): Promise<void>
  isRunning(id: string): Promise<boolean>
  /**
   * Removes the container of the old agent, and then its image if nothing else has or names it. Does nothing if it is no agent of the same
   * data directory.
   *
   * @returns why the image stays
   */
  removePrevious(id: string): Promise<string | undefined>
  close(): void
}

/** What the core decides about a release while the engine applies it. */
export interface ReleaseControl {
  /** Aborts with an AbortedError when the release is cancelled or abandoned, or this process ends. */
  readonly signal: AbortSignal
  /** Aborts with an AbortedError when this process ends: work that cannot be cancelled is then left to the next process too. */
  readonly ending: AbortSignal
  /** Resolves while the server still counts on this agent; nothing that stops a service may start before. */
  mayProceed(signal: AbortSignal): Promise<void>
  /** Called when the new containers have taken over: the rest is the removal of the previous ones, which mostly waits. */
  tookOver(): void
}

/**
 * The system that runs the containers of a node. The agent's core (link, journal, commands, log streams, secrets) knows an engine by this
 * interface alone; `agent.ts` chooses the implementation. Errors are EngineErrors.
 */
export interface Engine extends ContainerView {
  readonly description: EngineDescription
  /** Removes all containers of the owner, also those that the owner's predecessors on deleted nodes left. */
  removeAllOf(owner: OwnerIds & { deletedNodeIds: readonly string[] }): Promise<void>
  /** Lists the whole store. An image outside of the scope is listed without the names of the containers that use it. */
  listImages(scope: EngineScope): Promise<ListedImage[]>
  /** Removes images one after another; one that stays is reported with the reason and does not stop the others. */
  removeImages(ids: readonly string[]): Promise<RemovedImages>
  /** Returns the holders of ports that a deployment would publish. Names are returned of the owner's team only. */
  findPortHolders(request: FindPortHolders): Promise<{ port: HostPort; containerName: string }[]>
  /**
   * Compares what exists with a release that has succeeded, and changes nothing. No value of a secret is in the result.
   *
   * @throws EngineError `refused` where the engine cannot do that, or the release cannot be compared
   */
  findDrift(release: Release): Promise<ObjectDifference[]>
  /**
   * Lists the machines of a cluster with what they have and what is requested of it, or says which right is missing for that.
   *
   * @throws EngineError `refused` where the engine is no cluster
   */
  listMachines(request: MachineRequest): Promise<MessageInitShape<typeof MachineListSchema>>
  /**
   * What stays under a prefix when its containers are deleted. Nothing is changed.
   *
   * @throws EngineError `refused` where the engine keeps nothing under a prefix
   */
  findPrefixData(target: PrefixTarget): Promise<PrefixData>
  /**
   * Deletes data that stays. What is kept, or not gone yet, is reported with the reason and does not stop the rest.
   *
   * @throws EngineError `conflict` while containers or a release of the prefix exist; nothing is deleted then
   */
  deletePrefixData(
    target: PrefixTarget,
    chosen: { claims: readonly Pick<ClaimKey, 'name' | 'uid'>[]; namespace: boolean },
  ): Promise<DeletedPrefixData>
  /** Creates what a first deployment to the target needs, so that its start finds it. */
  prepareTarget(owner: OwnerIds): Promise<void>
  /** Removes what was prepared, unless a container or a deployment uses it. */
  releaseTarget(owner: OwnerIds): Promise<void>
  /**
   * Applies one release from the point that its journal has reached, and ends it with an outcome: everything as ordered, or everything as
   * it was before. After a success it removes what was replaced.
   */
  applyRelease(journal: Journal, control: ReleaseControl): Promise<void>
  /** Whether the containers that existed before a release that did not start run now. */
  previousContainersRun(release: Release, signal: AbortSignal): Promise<boolean>
  /**
   * Starts to keep in step what containers need outside of releases, such as ports and networks. Called once, when the releases of an
   * earlier process are known.
   *
   * @param isBusy whether a deployment under the prefix is in progress or waits: what it uses is left alone
   */
  startUpkeep(isBusy: (prefix: string) => boolean): void
  /** Brings everything in step now: the link is up, or the set of deleted nodes has changed. */
  reconcile(): void
  /** A release under the prefix has ended, successfully or not: what it used may change again. */
  releaseEnded(prefix: string): void
  close(): Promise<void>
}
