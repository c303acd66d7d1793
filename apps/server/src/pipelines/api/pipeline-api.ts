import type { PipelineType } from '@crux/contract'

/** Where a pipeline is at its service. */
export type PipelineLocation = {
  type: PipelineType
  /** Azure DevOps: the organization; GitHub: the owner; GitLab: the group, with its parents. */
  organization: string
  project: string
  branch: string | null
  /** Azure DevOps: the name of the pipeline; GitHub: the file of the workflow; GitLab: unused. */
  triggerName: string
  /** The ids that the service itself uses; null where it has none. */
  externalProjectId: string | null
  externalPipelineId: string | null
}
export type ExternalIds = Pick<PipelineLocation, 'externalProjectId' | 'externalPipelineId'>
export type RunInput = { key: string; value: string }
export type NewRun = { id: string; inputs: readonly RunInput[] }
/** What the service answered about a run that it started. */
export type StartedRun = { externalId: bigint | undefined; url: string | undefined }
export type ReportedStatus = 'queued' | 'running' | 'successful' | 'failed'
export type RunReport = {
  status: ReportedStatus
  externalId?: bigint | undefined
  url?: string | undefined
  finishedAt?: Date | undefined
  /** Why it failed, where the service ended it for another reason than a failed job. */
  reason?: string | undefined
}
export type KnownRun = { id: string; externalId: bigint | undefined; createdAt: Date }

/** The operations that Crux needs of a service that runs pipelines. Each throws `PipelineServiceError`. */
export interface PipelineApi {
  /** Finds the pipeline with the given token. */
  find(): Promise<ExternalIds>
  start(run: NewRun): Promise<StartedRun>
  /** @returns undefined when the service has no such run */
  getRun(run: KnownRun): Promise<RunReport | undefined>
  /**
   * Creates the hook that reports the state of runs.
   *
   * @returns its id at the service
   */
  createHook(hook: { url: string; secret: string }): Promise<string>
  /** A hook that does not exist any more counts as deleted. */
  deleteHook(id: string): Promise<void>
  /** Whether a run whose start was not answered can still be found, because it carries our id. */
  findsLostRuns: boolean
}

/**
 * - `token`: the service refuses the token, or it lacks a right
 * - `notFound`: something that the user named does not exist there, or the token does not show it
 * - `refused`: the service does not accept the request
 * - `limited`: too many requests
 * - `unreachable`: the request was not sent
 * - `unanswered`: it was sent, and may have had its effect
 */
export type ServiceErrorKind = 'token' | 'notFound' | 'refused' | 'limited' | 'unreachable' | 'unanswered'

/** Why a service did not do what it was asked for. The message is for users, and holds nothing of the service's answer. */
export class PipelineServiceError extends Error {
  override name = 'PipelineServiceError'
  readonly kind: ServiceErrorKind
  /** The field of the form that is wrong. */
  readonly property: string
  readonly retryAfterS: number | undefined

  constructor(
    kind: ServiceErrorKind,
    message: string,
    options: { property?: string; retryAfterS?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.property = options.property ?? (kind === 'token' ? 'token' : 'repository')
    this.retryAfterS = options.retryAfterS
  }
}
