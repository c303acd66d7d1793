import type { Container, ContainerRef, EngineKind, Operation } from '@crux/agent-protocol'
import type { ContainerEngine } from './container-engine.ts'

export interface EngineDescription {
  kind: EngineKind
  /** As it calls itself: "Docker 20.10.24". */
  version: string
  operatingSystem: string
  /** "amd64", "arm64". */
  architecture: string
}

/** Something happened to a container. `relist`: events may have been missed, look at everything again. */
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

/** What every kind of node can do. `apply/` drives the deployment through `engine`. Errors are EngineErrors. */
export interface Driver {
  describe(): Promise<EngineDescription>
  /** Name of the container that this process runs in; empty when it runs in none. */
  ownContainer(): Promise<string>
  /**
   * All containers of the node, or those of a prefix, as the engine's events until the call left them or later. For pages: what
   * decides about containers asks `engine`.
   */
  list(filter: { prefix?: string }): Promise<Container[]>
  /** Those that still exist of the given engine ids, as the last event that a subscriber heard left them or later. */
  view(ids: readonly string[]): Promise<Container[]>
  /** A container by its name, of any owner; undefined when there is none, or when it is not one of the prefix that is named. */
  find(ref: Pick<ContainerRef, 'prefix' | 'name'>): Promise<FoundContainer | undefined>
  /** The engine's own description as JSON, values of secrets replaced. */
  inspect(id: string): Promise<string>
  operate(id: string, operation: Operation): Promise<void>
  /** Stops and removes; its volumes stay. */
  remove(id: string): Promise<void>
  /** Lines in batches, as the engine delivers them; the caller's pace slows the engine down. */
  readLog(id: string, request: LogRequest): AsyncIterable<LogChunkLine[]>
  /** Calls back for every event until the returned function is called; starts with `relist` after every gap. */
  subscribe(listener: (event: EngineEvent) => void): () => void
  engine: ContainerEngine
  close(): void
}
