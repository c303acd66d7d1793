import type { Logger } from '@crux/service-kit'
import type { DataDirectory } from '../../../files/data-directory.ts'
import type { LinkClock } from '../../../releases/link-clock.ts'
import type { Driver } from '../containers/driver.ts'
import type { Gate } from '../gate/gate.ts'
import type { ImageClaims } from '../images/claims.ts'
import type { FetchedImages } from '../images/fetched.ts'
import type { RegistryDigests } from '../images/registry-digests.ts'
import type { TeamNetworks } from '../networks/team-networks.ts'
import type { NodeEnvironment } from '../plan/container-spec.ts'
import type { BindSources } from '../volumes/bind-sources.ts'
import type { Run } from './run.ts'

export interface ReleaseContext {
  driver: Driver
  gate: Gate
  teamNetworks: TeamNetworks
  nodeEnvironment: NodeEnvironment
  data: DataDirectory
  sources: BindSources
  decrypt: (message: string) => Promise<string>
  clock: LinkClock
  images: { claims: ImageClaims; fetched: FetchedImages; digests: RegistryDigests }
  log: Logger
  createLock: Run['createLock']
  /** Aborts with an AbortedError when this process ends: work that cannot be cancelled is then left to the next process too. */
  ending: AbortSignal
  /** Called when the new containers have taken over: the rest is the removal of the previous ones, which mostly waits. */
  tookOver: () => void
}
