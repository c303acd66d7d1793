import { randomUUID } from 'node:crypto'
import { type CiAnswer, type CiHookDelivery, type CiRequest, deliver, startCiServer } from './ci-server.ts'

export type AzureDevOps = Awaited<ReturnType<typeof startAzureDevOps>>
export type AzureRun = {
  id: number
  pipelineId: number
  state: 'unknown' | 'inProgress' | 'canceling' | 'completed'
  result?: 'unknown' | 'succeeded' | 'failed' | 'canceled'
  finishedDate?: string
  variables: Record<string, { isSecret: boolean; value: string }>
  refName?: string
}
type Subscription = { id: string; url: string; pipelineId: string; inputs: Record<string, string> }
type Options = {
  organization?: string
  project?: string
  token?: string
  pipelines?: { id: number; name: string; folder?: string }[]
  /** How many pipelines or projects one page has. */
  perPage?: number
}

/**
 * Azure DevOps with one project: the parts of its REST API that start and watch pipelines, and its service hooks.
 * https://learn.microsoft.com/en-us/rest/api/azure/devops/pipelines
 */
export async function startAzureDevOps(options: Options = {}) {
  const { organization = 'company', project = 'shop', token = 'azure-pat', perPage = 500 } = options
  const pipelines = options.pipelines ?? [{ id: 42, name: 'deploy' }]
  const projectId = '6ce954b1-ce1f-45d1-b94d-e6bf2464ba2c'
  const runs = new Map<number, AzureRun>()
  const subscriptions = new Map<string, Subscription>()
  let serial = 1_000
  const authorization = `Basic ${Buffer.from(`:${token}`).toString('base64')}`

  const toRow = (run: AzureRun) => ({
    _links: { web: { href: `https://dev.azure.com/${organization}/${project}/_build/results?buildId=${run.id}` } },
    id: run.id,
    name: `20260101.${run.id}`,
    state: run.state,
    ...(run.result && { result: run.result }),
    createdDate: '2026-01-01T00:00:00Z',
    ...(run.finishedDate && { finishedDate: run.finishedDate }),
    pipeline: { id: run.pipelineId },
  })

  function answer({ method, path, query, headers, body }: CiRequest): CiAnswer {
    // A wrong token gets a page for signing in.
    if (headers.authorization !== authorization)
      return {
        status: 203,
        text: '<html><title>Azure DevOps Services | Sign In</title></html>',
        headers: { 'content-type': 'text/html' },
      }
    if (query.get('api-version') !== '7.1-preview.1') return { status: 400, body: { message: 'no api-version' } }
    const ofOrganization = path.startsWith(`/${organization}/_apis/`)
    const ofProject = path.startsWith(`/${organization}/${project}/_apis/`)
    const rest = path.slice(path.indexOf('/_apis/') + 7)
    if (ofOrganization && rest === 'projects')
      return toPage(
        [
          { id: projectId, name: project },
          { id: randomUUID(), name: 'other' },
        ],
        query,
      )
    if (ofOrganization && rest.startsWith('hooks/subscriptions')) return answerHook(method, rest.split('/')[2], body)
    if (!ofProject) return { status: 404, body: { message: 'TF200016: The project does not exist.' } }
    if (rest === 'pipelines')
      return toPage(
        pipelines.map((one) => ({ folder: '\\', ...one })),
        query,
      )
    const [, pipelineId = '', runId] = /^pipelines\/(\d+)\/runs(?:\/(\d+))?$/.exec(rest) ?? []
    if (!pipelines.some(({ id }) => id === Number(pipelineId)))
      return { status: 404, body: { message: 'no such pipeline' } }
    if (method === 'POST') return { status: 200, body: toRow(startRun(Number(pipelineId), body)) }
    const run = runs.get(Number(runId))
    return run?.pipelineId === Number(pipelineId)
      ? { status: 200, body: toRow(run) }
      : { status: 404, body: { message: 'no such run' } }
  }

  function toPage(rows: object[], query: URLSearchParams): CiAnswer {
    const from = Number(query.get('continuationToken') ?? 0)
    const value = rows.slice(from, from + perPage)
    const more = from + perPage < rows.length
    return {
      status: 200,
      body: { count: value.length, value },
      ...(more && { headers: { 'x-ms-continuationtoken': String(from + perPage) } }),
    }
  }

  function startRun(pipelineId: number, body: unknown): AzureRun {
    const given = body as {
      variables?: AzureRun['variables']
      resources?: { repositories: { self: { refName: string } } } | null
    }
    const id = ++serial
    const run: AzureRun = { id, pipelineId, state: 'inProgress', variables: given.variables ?? {} }
    if (given.resources) run.refName = given.resources.repositories.self.refName
    runs.set(id, run)
    return run
  }

  function answerHook(method: string, id: string | undefined, body: unknown): CiAnswer {
    if (method === 'DELETE') return subscriptions.delete(id ?? '') ? { status: 204 } : { status: 404, body: {} }
    const given = body as { publisherInputs: Record<string, string>; consumerInputs: Record<string, string> }
    const made = {
      id: randomUUID(),
      url: given.consumerInputs.url ?? '',
      pipelineId: given.publisherInputs.pipelineId ?? '',
      inputs: given.consumerInputs,
    }
    subscriptions.set(made.id, made)
    return { status: 200, body: { id: made.id, status: 'enabled', ...given } }
  }

  const service = await startCiServer(answer)
  return {
    ...service,
    organization,
    project,
    token,
    runs,
    subscriptions,
    /** Changes a run without telling anybody. */
    setRun: (id: number, state: Partial<AzureRun>) => void Object.assign(runs.get(id) ?? {}, state),
    /** The service knows this run no more. */
    loseRun: (id: number) => void runs.delete(id),
    /** Sends the state of a run to every hook of its pipeline. */
    async report(id: number, more: Partial<{ eventType: string; secret: string }> = {}): Promise<CiHookDelivery[]> {
      const run = runs.get(id)
      if (!run) throw new Error(`there is no run ${id}`)
      const body = JSON.stringify({
        subscriptionId: randomUUID(),
        id: randomUUID(),
        eventType: more.eventType ?? 'ms.vss-pipelines.run-state-changed-event',
        publisherId: 'pipelines',
        resource: { run: toRow(run), pipeline: { id: run.pipelineId } },
        resourceVersion: '5.1-preview.1',
      })
      const hooks = [...subscriptions.values()].filter(({ pipelineId }) => pipelineId === String(run.pipelineId))
      return Promise.all(hooks.map(({ url, inputs }) => deliver(url, body, toHeaders(inputs, more.secret))))
    },
  }
}

function toHeaders(inputs: Record<string, string>, secret: string | undefined): Record<string, string> {
  if (inputs.basicAuthPassword !== undefined) {
    const text = `${inputs.basicAuthUsername}:${secret ?? inputs.basicAuthPassword}`
    return { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
  }
  const [name = '', value = ''] = (inputs.httpHeaders ?? '').split(/:(.*)/s)
  return name ? { [name]: secret === undefined ? value : `Bearer ${secret}` } : {}
}
