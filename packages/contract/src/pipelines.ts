import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import {
  pipelineEvents,
  pipelineHookStates,
  pipelineRunCreators,
  pipelineStatuses,
  pipelineTypes,
  registryTypes,
} from './enums.ts'
import { limits } from './limits.ts'
import { Audit, BasicUser, basic, Description, Icon, Id, Name, Page, paginated, Timestamp } from './shapes.ts'

const part = z.string().trim().min(1).max(255)
export const PipelineRepository = z.object({
  /** Azure DevOps: the organization; GitHub: the owner; GitLab: the group, with its parents. */
  organization: part,
  /** Azure DevOps and GitLab: the project; GitHub: the repository. */
  project: part,
  branch: part.or(z.literal('')).nullish(),
})
/** A value may contain the placeholders `{{ imageName }}`, `{{ imageTag }}` and `{{ label:KEY }}` where an event starts the run. */
export const PipelineInput = z.object({
  id: z.string().max(64).optional(),
  key: z.string().trim().min(1).max(255),
  value: z.string().max(limits.pipelineInput.max),
})
const inputs = z
  .array(PipelineInput)
  .max(limits.pipelineInputs)
  .superRefine((rows, context) => {
    const seen = new Set<string>()
    for (const [index, { key }] of rows.entries()) {
      if (seen.has(key))
        context.addIssue({
          code: 'custom',
          path: [index, 'key'],
          message: `${key} is there more than once`,
          params: { rule: 'keysAreUnique' },
        })
      seen.add(key)
    }
  })
export const PipelineWrite = z.object({
  name: Name,
  description: Description,
  icon: Icon,
  type: z.enum(pipelineTypes),
  repository: PipelineRepository,
  trigger: z.object({
    /** Azure DevOps: the name of the pipeline; GitHub: the file of the workflow; GitLab: unused. */
    name: z.string().trim().max(255),
    inputs: inputs.default([]),
  }),
  /** A personal access token. Required on creation; if absent, an update keeps the stored one. */
  token: z.string().min(1).max(8_192).nullish(),
})
export type PipelineWrite = z.output<typeof PipelineWrite>
export const PipelineRun = z.object({
  id: Id,
  startedAt: Timestamp,
  /** Absent when an event started it. */
  startedBy: BasicUser.nullish(),
  finishedAt: Timestamp.nullish(),
  status: z.enum(pipelineStatuses),
  creatorType: z.enum(pipelineRunCreators).optional(),
  /** The watcher that started it; its name remains after it was deleted. */
  eventWatcher: z.object({ id: Id.nullish(), name: z.string() }).nullish(),
  /** The number of the run at the service, as text because it may exceed the integers of JavaScript. */
  externalId: z.string().nullish(),
  /** The page of the run at the service. */
  url: z.string().nullish(),
  /** Why the status is `failed` or `unknown`, where the service did not say so. */
  reason: z.string().nullish(),
  inputs: z.array(PipelineInput).optional(),
})
export type PipelineRun = z.output<typeof PipelineRun>
export const Pipeline = z.object({
  id: Id,
  name: z.string(),
  type: z.enum(pipelineTypes),
  description: z.string().nullish(),
  icon: Icon,
  repository: PipelineRepository,
  /** The name of the trigger. */
  trigger: z.string(),
  lastRun: PipelineRun.nullish(),
})
export const EventWatcherWrite = z.object({
  name: Name,
  event: z.enum(pipelineEvents),
  filters: z.object({
    /** Empty or absent: every image of the registry. */
    imageNameStartsWith: z.string().trim().max(255).nullish(),
  }),
  registryId: Id,
  /** Added to the inputs of the pipeline; the same key overrides. */
  triggerInputs: inputs.default([]),
})
export const EventWatcher = z.object({
  id: Id,
  name: z.string(),
  event: z.enum(pipelineEvents),
  filters: z.object({ imageNameStartsWith: z.string() }),
  triggerInputs: z.array(PipelineInput),
  createdAt: Timestamp,
  registry: basic(registryTypes),
})
/** Whether the service reports the state of runs to Crux; while it does not, Crux asks for it. */
export const PipelineHook = z.object({
  state: z.enum(pipelineHookStates),
  problem: z.string().nullish(),
  lastDeliveryAt: Timestamp.nullish(),
})
export const PipelineDetails = Pipeline.omit({ trigger: true }).extend({
  audit: Audit,
  /** The page of the pipeline at the service. */
  url: z.string().nullish(),
  trigger: z.object({ name: z.string(), inputs: z.array(PipelineInput) }),
  eventWatchers: z.array(EventWatcher),
  hook: PipelineHook.optional(),
})
/** What happened to a hook at the service that is no longer needed: it is answered only if the hook could not be deleted. */
export const OldHookResult = z.object({ hook: z.object({ deleted: z.boolean(), description: z.string() }) })

const pipelines = '/api/:teamSlug/pipelines' as const
const one = `${pipelines}/:pipelineId` as const
const ForeignBody = z.record(z.string(), z.unknown())

export const pipelineEndpoints = endpoints({
  'pipelines.list': {
    summary: 'List the pipelines of a team',
    route: `GET ${pipelines}`,
    response: z.array(Pipeline),
    permission: 'pipelines.read',
  },
  'pipelines.get': {
    summary: 'Get a pipeline',
    route: `GET ${one}`,
    response: PipelineDetails,
    permission: 'pipelines.read',
  },
  'pipelines.create': {
    summary: 'Create a pipeline, after it was found at its service',
    route: `POST ${pipelines}`,
    body: PipelineWrite,
    status: 201,
    response: PipelineDetails,
    errors: ['alreadyExists', 'keysAreUnique', 'preconditionFailed'],
    permission: 'pipelines.edit',
    audit: 'pipeline',
    auditBody: false,
  },
  'pipelines.update': {
    summary: 'Update a pipeline; its hook moves with organization, project and name',
    route: `PUT ${one}`,
    body: PipelineWrite,
    status: 204,
    response: OldHookResult.optional(),
    errors: ['alreadyExists', 'keysAreUnique', 'preconditionFailed'],
    permission: 'pipelines.edit',
    audit: 'pipeline',
    auditBody: false,
  },
  'pipelines.delete': {
    summary: 'Delete a pipeline and its hook; 200 with the reason if the hook could not be deleted',
    route: `DELETE ${one}`,
    status: 204,
    response: OldHookResult.optional(),
    permission: 'pipelines.edit',
    audit: 'pipeline',
  },
  'pipelines.runs': {
    summary: 'List the runs of a pipeline, newest first',
    route: `GET ${one}/runs`,
    query: Page,
    response: paginated(PipelineRun),
    permission: 'pipelines.read',
  },
  'pipelines.trigger': {
    summary: 'Start a run; given inputs replace the stored list',
    route: `POST ${one}/runs`,
    body: z.object({ inputs: inputs.nullish() }).optional(),
    status: 201,
    response: PipelineRun,
    errors: ['keysAreUnique', 'preconditionFailed'],
    permission: 'pipelines.trigger',
    audit: 'pipeline-run',
    auditBody: false,
    token: 'deploy',
  },
  'pipelines.create-event-watcher': {
    summary: 'Create an event watcher of a pipeline',
    route: `POST ${one}/event-watchers`,
    body: EventWatcherWrite,
    status: 201,
    response: EventWatcher,
    errors: ['keysAreUnique'],
    permission: 'pipelines.edit',
    audit: 'pipeline-event-watcher',
  },
  'pipelines.update-event-watcher': {
    summary: 'Update an event watcher',
    route: `PUT ${one}/event-watchers/:eventWatcherId`,
    body: EventWatcherWrite,
    errors: ['keysAreUnique'],
    permission: 'pipelines.edit',
    audit: 'pipeline-event-watcher',
  },
  'pipelines.delete-event-watcher': {
    summary: 'Delete an event watcher',
    route: `DELETE ${one}/event-watchers/:eventWatcherId`,
    permission: 'pipelines.edit',
    audit: 'pipeline-event-watcher',
  },
  'pipelines.hook-azure': {
    summary: 'Receive the state of a run from Azure DevOps',
    route: `POST ${one}/hooks/azure/pipeline-state`,
    body: ForeignBody,
    permission: 'pipeline-hook',
    pipelineHook: 'azure',
    audit: false,
  },
  'pipelines.hook-github': {
    summary: 'Receive the state of a run from GitHub',
    route: `POST ${one}/hooks/github`,
    body: ForeignBody,
    permission: 'pipeline-hook',
    pipelineHook: 'github',
    audit: false,
  },
  'pipelines.hook-gitlab': {
    summary: 'Receive the state of a run from GitLab',
    route: `POST ${one}/hooks/gitlab`,
    body: ForeignBody,
    permission: 'pipeline-hook',
    pipelineHook: 'gitlab',
    audit: false,
  },
})
