import type { ContainerView, EngineDescription } from '../../engine.ts'
import type { ContainerEngine } from './container-engine.ts'

/** Docker as the rest of this engine uses it, without types of an SDK. `apply/` runs the deployment through `engine`. */
export interface Driver extends ContainerView {
  describe(): Promise<EngineDescription>
  engine: ContainerEngine
  close(): void
}
