import { PlanError } from '../../../errors.ts'
import type { FailedContainer } from './judge.ts'

/** Why a workload is not what it must be, with the container whose log shows it. */
export class RolloutError extends PlanError {
  override name = 'RolloutError'
  readonly container: FailedContainer | undefined

  constructor(instanceId: string, reason: string, container?: FailedContainer) {
    super(instanceId, reason)
    this.container = container
  }
}
