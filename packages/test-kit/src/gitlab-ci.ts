import { type CiAnswer, type CiHookDelivery, type CiRequest, deliver, startCiServer } from './ci-server.ts'

export type GitlabCi = Awaited<ReturnType<typeof startGitlabCi>>
export type GitlabRun = {
  id: bigint
  status: string
  ref: string
  variables: { key: string; value: string }[]
  finishedAt: string | null
}
type Hook = { id: number; url: string; token: string }
type Options = { group?: string; project?: string; token?: string; mayCreateHooks?: boolean }

/** GitLab with one project: https://docs.gitlab.com/api/pipelines/, https://docs.gitlab.com/api/project_webhooks/ */
export async function startGitlabCi(options: Options = {}) {
  const { group = 'company/apps', project = 'shop', token = 'glpat-secret', mayCreateHooks = true } = options
  const runs = new Map<bigint, GitlabRun>()
  const hooks = new Map<number, Hook>()
  let serial = 9_007_199_254_750_001n
  let hookSerial = 70
  const projectId = 9

  const toFields = (run: GitlabRun) =>
    `"id":${run.id},"status":"${run.status}","ref":${JSON.stringify(run.ref)},"finished_at":${JSON.stringify(run.finishedAt)}`
  const toUrl = (run: GitlabRun) => `https://gitlab.com/${group}/${project}/-/pipelines/${run.id}`

  function answer({ method, path, headers, body }: CiRequest): CiAnswer {
    if (headers['private-token'] !== token) return { status: 401, body: { message: '401 Unauthorized' } }
    const [, encoded = '', rest = ''] = /^\/api\/v4\/projects\/([^/]+)(.*)$/.exec(path) ?? []
    if (![String(projectId), `${group}/${project}`].includes(decodeURIComponent(encoded)))
      return { status: 404, body: { message: '404 Project Not Found' } }
    if (rest === '')
      return {
        status: 200,
        body: { id: projectId, path_with_namespace: `${group}/${project}`, default_branch: 'main' },
      }
    if (rest === '/pipeline' && method === 'POST') {
      const { ref, variables } = body as { ref: string; variables: GitlabRun['variables'] }
      const run = { id: ++serial, status: 'created', ref, variables, finishedAt: null }
      runs.set(run.id, run)
      return { status: 201, text: `{${toFields(run)},"web_url":"${toUrl(run)}"}` }
    }
    const runId = /^\/pipelines\/(\d+)$/.exec(rest)?.[1]
    const run = runId === undefined ? undefined : runs.get(BigInt(runId))
    if (run) return { status: 200, text: `{${toFields(run)},"web_url":"${toUrl(run)}"}` }
    if (rest.startsWith('/hooks')) return answerHook(method, Number(rest.split('/')[2]), body)
    return { status: 404, body: { message: '404 Not found' } }
  }

  function answerHook(method: string, id: number, body: unknown): CiAnswer {
    if (!mayCreateHooks) return { status: 403, body: { message: '403 Forbidden' } }
    if (method === 'DELETE')
      return hooks.delete(id) ? { status: 204 } : { status: 404, body: { message: '404 Not found' } }
    const { url, token: secret } = body as { url: string; token: string }
    const made = { id: ++hookSerial, url, token: secret }
    hooks.set(made.id, made)
    return { status: 201, body: { id: made.id, url, pipeline_events: true } }
  }

  const service = await startCiServer(answer)
  return {
    ...service,
    group,
    project,
    token,
    runs,
    hooks,
    setRun: (id: bigint, state: Partial<GitlabRun>) => void Object.assign(runs.get(id) ?? {}, state),
    loseRun: (id: bigint) => void runs.delete(id),
    /** Sends the state of a pipeline to every hook of the project. */
    async report(id: bigint, more: Partial<{ kind: string; secret: string }> = {}): Promise<CiHookDelivery[]> {
      const run = runs.get(id)
      if (!run) throw new Error(`there is no pipeline ${id}`)
      const body = `{"object_kind":"${more.kind ?? 'pipeline'}","object_attributes":{${toFields(run)},"url":"${toUrl(run)}"},"project":{"id":${projectId}}}`
      const send = ({ url, token: secret }: Hook) =>
        deliver(url, body, { 'x-gitlab-event': 'Pipeline Hook', 'x-gitlab-token': more.secret ?? secret })
      return Promise.all([...hooks.values()].map(send))
    },
  }
}
