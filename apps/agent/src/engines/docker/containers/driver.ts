import type { Container, ContainerRef, EngineKind, Operation } from '@crux/agent-protocol'
import type { ContainerEngine } from './container-engine.ts'

export interface EngineDescription {
  kind: EngineKind
  /** As it names itself: "Docker 20.10.24". */
  version: string
  operatingSystem: string
  /** "amd64", "arm64". */
  architecture: string
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
  /** How many of the last lines come first; undefined: all. */
  take: number | undefined
  follow: boolean
  /** Only lines at or after this moment. */
  since?: { seconds: bigint; nanos: number }
  signal?: AbortSignal
}

export interface FoundContainer {
  /** Engine id. */
  id: string
  labels: Readonly<Record<string, string>>
}

/** The operations of every kind of node. `apply/` runs the deployment through `engine`. Errors are EngineErrors. */
export interface Driver {
  describe(): Promise<EngineDescription>
  /** Name of the container that this process runs in; empty outside of a container. */
  ownContainer(): Promise<string>
  /**
   * All containers of the node, or those of a prefix, as of the engine's events until the call or later. For pages: code that decides about
   * containers asks `engine`.
   */
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
  engine: ContainerEngine
  close(): void
}
