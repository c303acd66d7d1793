import type { ContainerSummary, ImageMetadata, ObservedContainer } from '../containers/container-engine.ts'
import type { DesiredInstance } from './container-spec.ts'

export interface Observation {
  /** All containers of the node. */
  all: readonly ContainerSummary[]
  /** Details of those that belong to the release's owner. */
  owned: readonly ObservedContainer[]
}

export interface ResolvedInstance extends DesiredInstance {
  digest: string
  metadata: ImageMetadata
  /** Whether the engine's store had the image under its readable name when it was checked. */
  tagged: boolean
  /** Whether this attempt had to fetch it. */
  wasPulled: boolean
  /** Images of its preparations, by the name in the configuration. */
  preparationImages: ReadonlyMap<string, PreparationImage>
}

export interface PreparationImage {
  digest: string
  metadata: ImageMetadata
}
