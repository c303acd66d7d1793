/** Why a release is not begun or not gone on with, in a sentence for a person. Nothing has been touched, or all is put back. */
export class PlanError extends Error {
  override name = 'Refusal'
  /** Empty when it concerns the release as a whole. */
  readonly instanceId: string

  constructor(instanceId: string, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.instanceId = instanceId
  }
}
