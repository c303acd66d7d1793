import type { Outbound } from '@crux/service-kit'
import {
  type KnownRun,
  type PipelineApi,
  type PipelineLocation,
  PipelineServiceError,
  type RunReport,
} from './pipeline-api.ts'
import { toRunNumber } from './run-number.ts'
import {
  createServiceClient,
  isPathPart,
  refusedToken,
  type ServiceClient,
  type ServiceResponse,
  toDate,
  toPageUrl,
  toRecord,
  toRecords,
  toText,
} from './service-client.ts'

const service = 'GitHub'
/** The input of the workflow that gets the id of our run, and that its `run-name` shows. */
export const githubRunInput = 'crux_run'
/** https://github.blog/changelog/2025-12-04-actions-workflow-dispatch-workflows-now-support-25-inputs/ */
const inputsMax = 25
const searchPagesMax = 3
/** The clocks of both sides may differ. */
const clockMs = 5 * 60_000

type Row = Record<string, unknown>

/**
 * Workflows of GitHub Actions: https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event,
 * https://docs.github.com/en/rest/actions/workflow-runs, https://docs.github.com/en/rest/repos/webhooks
 */
export function createGithubApi(options: {
  outbound: Outbound
  url: string
  location: PipelineLocation
  token: string
}): PipelineApi {
  const { location } = options
  const { organization, project, triggerName, branch } = location
  const client = createServiceClient({
    outbound: options.outbound,
    url: options.url,
    service,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${options.token}`,
      'x-github-api-version': '2022-11-28',
    },
  })
  const repository = `/repos/${encodeURIComponent(organization)}/${encodeURIComponent(project)}`
  const workflow = `${repository}/actions/workflows/${encodeURIComponent(triggerName)}`

  async function getDefaultBranch(): Promise<string> {
    const response = await client.request(repository)
    assertAnswer(response, 'repository.project', rights)
    return toText(toRecord(response.body).default_branch) || 'main'
  }

  return {
    findsLostRuns: true,
    async find() {
      assertNames(location)
      const ref = branch ?? (await getDefaultBranch())
      const response = await client.request(workflow)
      if (response.status === 404) await getDefaultBranch()
      assertAnswer(response, 'trigger.name', rights)
      const found = toRecord(response.body)
      if (toText(found.state).startsWith('disabled'))
        throw new PipelineServiceError('refused', 'This workflow is disabled at GitHub: enable it there.', {
          property: 'trigger.name',
        })
      await checkFile(client, repository, toText(found.path), ref)
      return { externalPipelineId: toRunNumber(found.id)?.toString() ?? null, externalProjectId: null }
    },
    async start({ id, inputs }) {
      if (inputs.length >= inputsMax)
        throw new PipelineServiceError('refused', `${service} accepts ${inputsMax - 1} inputs beside that of Crux.`, {
          property: 'inputs',
        })
      const given = Object.fromEntries(inputs.map(({ key, value }) => [key, value]))
      const response = await client.request(`${workflow}/dispatches`, {
        method: 'POST',
        body: {
          ref: branch ?? (await getDefaultBranch()),
          inputs: { ...given, [githubRunInput]: id },
          return_run_details: true,
        },
      })
      assertAnswer(response, 'trigger.name', `${rights} "Actions: Read and write" is needed to start a run.`)
      // Servers that do not know `return_run_details` answer 204, and the run is found by its name.
      const run = toRecord(response.body)
      return { externalId: toRunNumber(run.workflow_run_id), url: toPageUrl(run.html_url) }
    },
    async getRun(run) {
      if (run.externalId === undefined) return search(client, workflow, run)
      const response = await client.request(`${repository}/actions/runs/${run.externalId}`)
      if (response.status === 404) return undefined
      assertAnswer(response, 'trigger.name', rights)
      return readGithubRun(toRecord(response.body))
    },
    ...createHooks(client, repository),
  }
}

/** A token that may not read the file does not prevent the pipeline: the first run tells what the file lacks. */
async function checkFile(client: ServiceClient, repository: string, path: string, ref: string): Promise<void> {
  if (!path) return
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  const response = await client.request(`${repository}/contents/${encoded}?ref=${encodeURIComponent(ref)}`, {
    headers: { accept: 'application/vnd.github.raw+json' },
  })
  if (response.status !== 200) return
  if (!/\bworkflow_dispatch\b/.test(response.text)) throw lacking('the trigger workflow_dispatch')
  if (!response.text.includes(githubRunInput)) throw lacking(`the input ${githubRunInput}`)
}

/** Searches a run by its name, which shows our id: https://docs.github.com/en/rest/actions/workflow-runs#list-workflow-runs-for-a-workflow */
async function search(
  client: ServiceClient,
  workflow: string,
  { id, createdAt }: KnownRun,
): Promise<RunReport | undefined> {
  const since = new Date(createdAt.getTime() - clockMs).toISOString().replace(/\.\d+/, '')
  for (let page = 1; page <= searchPagesMax; page++) {
    const query = new URLSearchParams({
      event: 'workflow_dispatch',
      created: `>=${since}`,
      per_page: '100',
      page: `${page}`,
    })
    const response = await client.request(`${workflow}/runs?${query}`)
    if (response.status === 404) return undefined
    assertAnswer(response, 'trigger.name', rights)
    const rows = toRecords(toRecord(response.body).workflow_runs)
    const found = rows.find((row) => isDispatched(row) && listRunIds(row).includes(id))
    if (found) return readGithubRun(found)
    if (rows.length < 100) return undefined
  }
  return undefined
}

function createHooks(client: ServiceClient, repository: string): Pick<PipelineApi, 'createHook' | 'deleteHook'> {
  return {
    async createHook({ url, secret }) {
      const response = await client.request(`${repository}/hooks`, {
        method: 'POST',
        body: {
          name: 'web',
          active: true,
          events: ['workflow_run'],
          config: { url, content_type: 'json', secret, insecure_ssl: '0' },
        },
      })
      if (response.status === 422)
        throw new PipelineServiceError(
          'refused',
          `${service} does not accept the address of Crux for a hook: it has to be reachable from the internet.`,
        )
      assertAnswer(response, 'repository', hookRights)
      const id = toRunNumber(toRecord(response.body).id)
      if (id !== undefined) return String(id)
      throw new PipelineServiceError('unanswered', `${service} did not say which hook it created.`)
    },
    async deleteHook(id) {
      if (!/^\d+$/.test(id)) return
      const response = await client.request(`${repository}/hooks/${id}`, { method: 'DELETE' })
      if (response.status !== 404) assertAnswer(response, 'repository', hookRights)
    },
  }
}

const failures: Record<string, string> = {
  cancelled: 'The run was canceled at GitHub.',
  timed_out: 'The run took too long for GitHub.',
  startup_failure: 'GitHub could not start the workflow: its file has an error.',
  skipped: 'GitHub skipped every job of the run.',
  action_required: 'The run waits for an approval at GitHub.',
  stale: 'GitHub gave the run up.',
}

/** The state of a run, in an answer or in a delivery of a hook. */
export function readGithubRun(row: Row): RunReport {
  const base = { externalId: toRunNumber(row.id), url: toPageUrl(row.html_url) }
  if (row.status === 'in_progress') return { ...base, status: 'running' }
  if (row.status !== 'completed') return { ...base, status: 'queued' }
  const finishedAt = toDate(row.updated_at)
  if (row.conclusion === 'success') return { ...base, status: 'successful', finishedAt }
  const reason = failures[toText(row.conclusion)]
  return { ...base, status: 'failed', finishedAt, ...(reason && { reason }) }
}

/** The title of a run that a pull request started is written by anybody: it proves nothing. */
export const isDispatched = (row: Row): boolean => row.event === 'workflow_dispatch'

/** The ids in the name of a run, of which one may be ours. */
export const listRunIds = (row: Row): string[] =>
  `${toText(row.display_title).slice(0, 1_000)} ${toText(row.name).slice(0, 1_000)}`
    .toLowerCase()
    .match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []

const rights = 'It needs access to the repository with "Actions: Read and write" and "Contents: Read".'
const hookRights = 'The hook needs "Webhooks: Read and write" (the scope admin:repo_hook of a classic token).'

function assertAnswer({ status }: ServiceResponse, property: string, needed: string): void {
  if (status >= 200 && status < 300) return
  if (status === 403) throw refusedToken(service, `${service} accepts this token, but it lacks a right. ${needed}`)
  if (status === 404 || (status >= 300 && status < 400))
    throw new PipelineServiceError('notFound', notFoundText(property, needed), { property })
  if (status === 422)
    throw new PipelineServiceError(
      'refused',
      `${service} refuses this: the branch has to exist, and the workflow file on it has to declare workflow_dispatch with the input ${githubRunInput} and with each input of the pipeline.`,
      { property },
    )
  throw new PipelineServiceError('refused', `${service} refuses this (status ${status}).`, { property })
}

const notFoundText = (property: string, needed: string): string =>
  property === 'trigger.name'
    ? 'The repository has no workflow with this file name.'
    : `${service} has no such repository, or does not show it to this token. ${needed}`

const lacking = (what: string) =>
  new PipelineServiceError(
    'refused',
    `The workflow file lacks ${what}. The documentation of pipelines has a file to copy from.`,
    { property: 'trigger.name' },
  )

function assertNames({ organization, project, triggerName }: PipelineLocation): void {
  const wrong = (property: string, message: string) => new PipelineServiceError('notFound', message, { property })
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(organization))
    throw wrong('repository.organization', 'An owner at GitHub has letters, digits and dashes only.')
  if (!/^[\w.-]+$/.test(project) || !isPathPart(project))
    throw wrong('repository.project', 'Enter the name of the repository alone, without its owner.')
  if (!/^[\w .+-]+\.ya?ml$/i.test(triggerName))
    throw wrong('trigger.name', 'Enter the file name of the workflow, such as deploy.yml.')
}
