/** Why a release does not start or continue, in a sentence for users. Nothing has been changed, or everything is restored. */
export class PlanError extends Error {
  override name = 'PlanError'
  /** Empty when it concerns the release as a whole. */
  readonly instanceId: string

  constructor(instanceId: string, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.instanceId = instanceId
  }
}
