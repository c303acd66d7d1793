import type { Outbound } from '@crux/service-kit'
import { type PipelineApi, type PipelineLocation, PipelineServiceError, type RunReport } from './pipeline-api.ts'
import { toRunNumber } from './run-number.ts'
import {
  createServiceClient,
  isPathPart,
  refusedToken,
  type ServiceResponse,
  toDate,
  toPageUrl,
  toRecord,
  toText,
} from './service-client.ts'

const service = 'GitLab'

type Row = Record<string, unknown>

/** Pipelines of GitLab: https://docs.gitlab.com/api/pipelines/, https://docs.gitlab.com/api/project_webhooks/ */
export function createGitlabApi(options: {
  outbound: Outbound
  url: string
  location: PipelineLocation
  token: string
}): PipelineApi {
  const { location } = options
  const { organization, project, branch } = location
  const client = createServiceClient({
    outbound: options.outbound,
    url: options.url,
    service,
    headers: { accept: 'application/json', 'private-token': options.token },
  })
  // The number of the project stays when its group is renamed.
  const inProject = `/api/v4/projects/${encodeURIComponent(location.externalProjectId ?? `${organization}/${project}`)}`

  async function getProject(): Promise<Row> {
    const response = await client.request(inProject)
    assertAnswer(response, 'repository.project')
    return toRecord(response.body)
  }

  return {
    findsLostRuns: false,
    async find() {
      assertNames(location)
      const found = await getProject()
      const externalProjectId = toRunNumber(found.id)?.toString()
      if (externalProjectId === undefined)
        throw new PipelineServiceError('refused', 'This address does not answer as GitLab.', {
          property: 'repository.project',
        })
      return { externalProjectId, externalPipelineId: null }
    },
    async start({ inputs }) {
      const ref = branch ?? (toText((await getProject()).default_branch) || 'main')
      const response = await client.request(`${inProject}/pipeline`, {
        method: 'POST',
        body: { ref, variables: inputs.map(({ key, value }) => ({ key, value })) },
      })
      assertAnswer(response, 'repository.project')
      const run = toRecord(response.body)
      return { externalId: toRunNumber(run.id), url: toPageUrl(run.web_url) }
    },
    async getRun({ externalId }) {
      if (externalId === undefined) return undefined
      const response = await client.request(`${inProject}/pipelines/${externalId}`)
      if (response.status === 404) return undefined
      assertAnswer(response, 'repository.project')
      return readGitlabRun(toRecord(response.body))
    },
    async createHook({ url, secret }) {
      const response = await client.request(`${inProject}/hooks`, {
        method: 'POST',
        body: {
          url,
          token: secret,
          pipeline_events: true,
          push_events: false,
          enable_ssl_verification: true,
        },
      })
      if (response.status === 422 || response.status === 400)
        throw new PipelineServiceError(
          'refused',
          `${service} does not accept the address of Crux for a hook: it has to be reachable from GitLab, and not in a network that its administrators block.`,
        )
      assertAnswer(response, 'repository', hookRights)
      const id = toRunNumber(toRecord(response.body).id)
      if (id !== undefined) return String(id)
      throw new PipelineServiceError('unanswered', `${service} did not say which hook it created.`)
    },
    async deleteHook(id) {
      if (!/^\d+$/.test(id)) return
      const response = await client.request(`${inProject}/hooks/${id}`, { method: 'DELETE' })
      if (response.status !== 404) assertAnswer(response, 'repository', hookRights)
    },
  }
}

/** https://docs.gitlab.com/api/pipelines/#list-project-pipelines names the states. */
export function readGitlabRun(row: Row): RunReport {
  const base = { externalId: toRunNumber(row.id), url: toPageUrl(row.web_url ?? row.url) }
  const finishedAt = toDate(toIso(row.finished_at))
  switch (row.status) {
    case 'success':
      return { ...base, status: 'successful', finishedAt }
    case 'failed':
      return { ...base, status: 'failed', finishedAt }
    case 'canceled':
      return { ...base, status: 'failed', finishedAt, reason: 'The pipeline was canceled at GitLab.' }
    case 'skipped':
      return { ...base, status: 'failed', finishedAt, reason: 'GitLab skipped every job of the pipeline.' }
    case 'running':
    case 'canceling':
    case 'manual':
      return { ...base, status: 'running' }
    default:
      return { ...base, status: 'queued' }
  }
}

/** Hooks write `2026-01-02 03:04:05 UTC`. */
const toIso = (value: unknown): string =>
  toText(value).replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) UTC$/, '$1T$2Z')

const rights = 'It needs the scope api, and the role Developer or higher in the project.'
const hookRights = 'The hook needs the scope api, and the role Maintainer or Owner in the project.'

function assertAnswer({ status }: ServiceResponse, property: string, needed = rights): void {
  if (status >= 200 && status < 300) return
  if (status === 403) throw refusedToken(service, `${service} accepts this token, but it lacks a right. ${needed}`)
  if (status === 404 || (status >= 300 && status < 400))
    throw new PipelineServiceError(
      'notFound',
      `${service} has no such project, or does not show it to this token. ${needed}`,
      { property },
    )
  throw new PipelineServiceError(
    'refused',
    `${service} refuses this (status ${status}): the branch has to exist and to have a .gitlab-ci.yml with jobs for this run, and the project has to allow variables for pipelines that are started by hand.`,
    { property },
  )
}

function assertNames({ organization, project }: PipelineLocation): void {
  const isName = (text: string) => /^[\w][\w.+-]*$/.test(text) && isPathPart(text)
  if (!organization.split('/').every(isName))
    throw new PipelineServiceError('notFound', 'Enter the path of the group as in its address, such as company/shop.', {
      property: 'repository.organization',
    })
  if (!isName(project))
    throw new PipelineServiceError('notFound', 'Enter the name of the project as in its address, without its group.', {
      property: 'repository.project',
    })
}
