import type { Outbound } from '@crux/service-kit'
import {
  type ExternalIds,
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

const version = 'api-version=7.1-preview.1'
const service = 'Azure DevOps'
const perPage = 500
const pagesMax = 20
/** The user name of the hook's basic authentication: Azure DevOps requires one. */
export const azureHookUser = 'crux'

type Row = Record<string, unknown>

type Addressed = Pick<PipelineLocation, 'organization' | 'project'>
const toOrganizationPath = ({ organization }: Addressed) => `/${encodeURIComponent(organization)}/_apis`
const toProjectPath = ({ organization, project }: Addressed) =>
  `/${encodeURIComponent(organization)}/${encodeURIComponent(project)}/_apis`

/**
 * Azure DevOps: https://learn.microsoft.com/en-us/rest/api/azure/devops/pipelines,
 * https://learn.microsoft.com/en-us/rest/api/azure/devops/hooks/subscriptions
 */
export function createAzureApi(options: {
  outbound: Outbound
  url: string
  location: PipelineLocation
  token: string
}): PipelineApi {
  const { location } = options
  const { branch } = location
  const client = createServiceClient({
    outbound: options.outbound,
    url: options.url,
    service,
    headers: {
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(`:${options.token}`).toString('base64')}`,
    },
  })
  const inProject = toProjectPath(location)

  const { findPipelineId, findProjectId } = createFinder(client, location)

  return {
    findsLostRuns: false,
    async find(): Promise<ExternalIds> {
      assertNames(location)
      const externalPipelineId = await findPipelineId()
      return { externalPipelineId, externalProjectId: await findProjectId() }
    },
    async start({ inputs }) {
      const response = await client.request(`${inProject}/pipelines/${location.externalPipelineId}/runs?${version}`, {
        method: 'POST',
        body: {
          variables: Object.fromEntries(inputs.map(({ key, value }) => [key, { isSecret: false, value }])),
          resources: branch ? { repositories: { self: { refName: `refs/heads/${branch}` } } } : null,
        },
      })
      assertAnswer(response, 'trigger.name')
      const run = toRecord(response.body)
      return { externalId: toRunNumber(run.id), url: toRunUrl(run) }
    },
    async getRun({ externalId }) {
      if (externalId === undefined) return undefined
      const path = `${inProject}/pipelines/${location.externalPipelineId}/runs/${externalId}?${version}`
      const response = await client.request(path)
      if (response.status === 404) return undefined
      assertAnswer(response, 'trigger.name')
      return readAzureRun(toRecord(response.body))
    },
    ...createHooks(client, location),
  }
}

/** Finds the ids that Azure DevOps has for the names of a user. */
function createFinder(client: ServiceClient, location: PipelineLocation) {
  const { project, triggerName } = location

  /** The rows of all pages: https://learn.microsoft.com/en-us/rest/api/azure/devops/pipelines/pipelines/list */
  async function list(path: string, property: string): Promise<Row[]> {
    const rows: Row[] = []
    let token = ''
    for (let page = 0; page < pagesMax; page++) {
      const next = token && `&continuationToken=${encodeURIComponent(token)}`
      const response = await client.request(`${path}?${version}&$top=${perPage}${next}`)
      assertAnswer(response, property)
      rows.push(...toRecords(toRecord(response.body).value))
      token = String(response.headers['x-ms-continuationtoken'] ?? '')
      if (token === '') break
    }
    return rows
  }

  async function findPipelineId(): Promise<string> {
    const all = await list(`${toProjectPath(location)}/pipelines`, 'repository.project')
    const named = all.filter((row) => isSame(toText(row.name), triggerName))
    const full = all.filter((row) => isSame(toFullName(row), triggerName))
    const found = full.length === 1 ? full : named
    if (found.length > 1)
      throw new PipelineServiceError(
        'notFound',
        `The project has several pipelines of this name: enter the folder too, such as ${toFullName(found[0])}.`,
        { property: 'trigger.name' },
      )
    const id = toRunNumber(found[0]?.id)
    if (id !== undefined) return String(id)
    throw new PipelineServiceError('notFound', `The project has no pipeline of this name.`, {
      property: 'trigger.name',
    })
  }

  async function findProjectId(): Promise<string> {
    const all = await list(`${toOrganizationPath(location)}/projects`, 'repository.organization')
    const id = all.find((row) => isSame(toText(row.name), project))?.id
    if (typeof id === 'string' && id !== '') return id
    throw new PipelineServiceError('notFound', 'The organization has no project of this name.', {
      property: 'repository.project',
    })
  }

  return { findPipelineId, findProjectId }
}

/** Service hooks belong to an organization. */
function createHooks(
  client: ServiceClient,
  location: PipelineLocation,
): Pick<PipelineApi, 'createHook' | 'deleteHook'> {
  const subscriptions = `${toOrganizationPath(location)}/hooks/subscriptions`
  return {
    async createHook({ url, secret }) {
      const response = await client.request(`${subscriptions}?${version}`, {
        method: 'POST',
        body: {
          publisherId: 'pipelines',
          eventType: azureRunEvent,
          resourceVersion: '5.1-preview.1',
          consumerId: 'webHooks',
          consumerActionId: 'httpRequest',
          publisherInputs: {
            projectId: location.externalProjectId,
            pipelineId: location.externalPipelineId,
            runStateId: '',
            runResultId: '',
          },
          consumerInputs: { url, ...toHookCredential(url, secret) },
        },
      })
      if (response.status === 400)
        throw new PipelineServiceError(
          'refused',
          `${service} does not accept the address of Crux for a hook: it has to be reachable from the internet.`,
        )
      assertAnswer(response, 'repository')
      const { id } = toRecord(response.body)
      if (typeof id === 'string' && id !== '') return id
      throw new PipelineServiceError('unanswered', `${service} did not say which hook it created.`)
    },
    async deleteHook(id) {
      if (!isPathPart(id)) return
      const path = `${subscriptions}/${encodeURIComponent(id)}?${version}`
      const response = await client.request(path, { method: 'DELETE' })
      if (response.status !== 404) assertAnswer(response, 'repository')
    },
  }
}

export const azureRunEvent = 'ms.vss-pipelines.run-state-changed-event'

/** Azure DevOps shows headers to everyone who sees the hook, and hides a password, which it sends over https only. */
const toHookCredential = (url: string, secret: string) =>
  url.startsWith('https:')
    ? { basicAuthUsername: azureHookUser, basicAuthPassword: secret }
    : { httpHeaders: `Authorization:Bearer ${secret}` }

/** The state of a run, in an answer or in a delivery of a hook. A state that tells nothing counts as `queued`. */
export function readAzureRun(run: Row): RunReport {
  const base = { externalId: toRunNumber(run.id), url: toRunUrl(run), finishedAt: toDate(run.finishedDate) }
  if (run.state === 'inProgress') return { ...base, status: 'running', finishedAt: undefined }
  if (run.state === 'canceling') return { ...base, status: 'failed', reason: canceled }
  if (run.state !== 'completed') return { ...base, status: 'queued', finishedAt: undefined }
  if (run.result === 'succeeded') return { ...base, status: 'successful' }
  return { ...base, status: 'failed', ...(run.result === 'canceled' && { reason: canceled }) }
}
const canceled = `The run was canceled at ${service}.`

const toRunUrl = (run: Row) => toPageUrl(toRecord(toRecord(run._links).web).href)

function assertAnswer(response: ServiceResponse, property: string): void {
  const { status } = response
  // Azure DevOps answers requests with a token that it does not know with a page for signing in, and status 203.
  if (status === 203)
    throw refusedToken(
      service,
      `${service} does not accept this token: it is wrong, expired or of another organization.`,
    )
  if (status === 403)
    throw refusedToken(
      service,
      `${service} accepts this token, but it lacks a right. It needs "Build: Read & execute" and "Project and team: Read"; for the hook its owner has to be a project administrator.`,
    )
  if (status === 404) throw new PipelineServiceError('notFound', notFoundText(property), { property })
  if (status >= 200 && status < 300) return
  throw new PipelineServiceError(
    'refused',
    `${service} refuses this (status ${status}): check the branch, and that the variables of the pipeline may be set when it is queued.`,
    { property },
  )
}

const notFoundText = (property: string): string =>
  property === 'trigger.name'
    ? `${service} has no such pipeline any more.`
    : `${service} has no such ${property === 'repository.project' ? 'project in this organization' : 'organization'}, or does not show it to this token.`

function assertNames({ organization, project, triggerName }: PipelineLocation): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(organization))
    throw new PipelineServiceError('notFound', 'An organization of Azure DevOps has letters, digits and dashes only.', {
      property: 'repository.organization',
    })
  if (!isPathPart(project))
    throw new PipelineServiceError('notFound', 'This is not the name of a project.', { property: 'repository.project' })
  if (triggerName === '')
    throw new PipelineServiceError('notFound', 'Enter the name of the pipeline at Azure DevOps.', {
      property: 'trigger.name',
    })
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** `\folder\name`, without the leading separator. */
const toFullName = (row: Row | undefined): string =>
  `${toText(row?.folder)}\\${toText(row?.name)}`.replace(/\\+/g, '\\').replace(/^\\/, '')
