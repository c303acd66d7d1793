import { createHmac } from 'node:crypto'
import { type CiAnswer, type CiHookDelivery, type CiRequest, deliver, startCiServer } from './ci-server.ts'

export type GithubActions = Awaited<ReturnType<typeof startGithubActions>>
export type GithubRun = {
  id: bigint
  title: string
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: string | null
  inputs: Record<string, string>
  ref: string
  event: string
}
type Hook = { id: number; url: string; secret: string }
type Options = {
  owner?: string
  repository?: string
  token?: string
  workflow?: string
  /** The text of the workflow file. */
  file?: string
  /** Whether it knows `return_run_details`. */
  returnsRunDetails?: boolean
  /** Whether the token may manage hooks. */
  mayCreateHooks?: boolean
}

/** A workflow file with what Crux needs. */
export const githubWorkflow = `name: deploy
run-name: deploy \${{ inputs.crux_run }}
on:
  workflow_dispatch:
    inputs:
      crux_run: { type: string }
      IMAGE: { type: string }
jobs:
  deploy:
    runs-on: ubuntu-latest
    steps: [{ run: 'echo "$IMAGE"', env: { IMAGE: '\${{ inputs.IMAGE }}' } }]
`

/**
 * GitHub with one repository and one workflow: https://docs.github.com/en/rest/actions/workflows,
 * https://docs.github.com/en/rest/repos/webhooks. Numbers of runs exceed the integers of JavaScript.
 */
export async function startGithubActions(options: Options = {}) {
  const { owner = 'company', repository = 'shop', token = 'github-pat', workflow = 'deploy.yml' } = options
  const { file = githubWorkflow, returnsRunDetails = true, mayCreateHooks = true } = options
  const runs = new Map<bigint, GithubRun>()
  const hooks = new Map<number, Hook>()
  let serial = 9_007_199_254_740_993n
  let hookSerial = 500
  const base = `/repos/${owner}/${repository}`

  /** JSON in which the number of the run has all of its digits. */
  const toJson = (run: GithubRun): string =>
    `{"id":${run.id},"name":"deploy","display_title":${JSON.stringify(run.title)},"status":"${run.status}","conclusion":${JSON.stringify(run.conclusion)},"event":"${run.event}","html_url":"https://github.com/${owner}/${repository}/actions/runs/${run.id}","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:05:00Z"}`

  function answer({ method, path, headers, body }: CiRequest): CiAnswer {
    if (headers.authorization !== `Bearer ${token}`) return { status: 401, body: { message: 'Bad credentials' } }
    if (path === base)
      return { status: 200, body: { id: 1, full_name: `${owner}/${repository}`, default_branch: 'main' } }
    if (path === `${base}/actions/workflows/${workflow}`)
      return {
        status: 200,
        body: { id: 161_335, name: 'deploy', path: `.github/workflows/${workflow}`, state: 'active' },
      }
    if (path === `${base}/contents/.github/workflows/${workflow}`) return { status: 200, text: file }
    if (path === `${base}/actions/workflows/${workflow}/dispatches`) return dispatch(body)
    if (path === `${base}/actions/workflows/${workflow}/runs`) {
      const rows = [...runs.values()].reverse().map(toJson)
      return { status: 200, text: `{"total_count":${rows.length},"workflow_runs":[${rows.join()}]}` }
    }
    const runId = new RegExp(`^${base}/actions/runs/(\\d+)$`).exec(path)?.[1]
    const run = runId === undefined ? undefined : runs.get(BigInt(runId))
    if (run) return { status: 200, text: toJson(run) }
    if (path.startsWith(`${base}/hooks`)) return answerHook(method, Number(path.split('/').at(-1)), body)
    return { status: 404, body: { message: 'Not Found' } }
  }

  function dispatch(body: unknown): CiAnswer {
    const {
      ref,
      inputs,
      return_run_details: details,
    } = body as { ref: string; inputs: Record<string, string>; return_run_details?: boolean }
    const unexpected = Object.keys(inputs).filter((key) => !file.includes(key))
    if (unexpected.length > 0)
      return { status: 422, body: { message: `Unexpected inputs provided: ${JSON.stringify(unexpected)}` } }
    const id = ++serial
    const title = /^run-name:/m.test(file) ? `deploy ${inputs.crux_run}` : 'deploy'
    runs.set(id, { id, title, status: 'queued', conclusion: null, inputs, ref, event: 'workflow_dispatch' })
    if (!details || !returnsRunDetails) return { status: 204 }
    const url = `/${owner}/${repository}/actions/runs/${id}`
    return {
      status: 200,
      text: `{"workflow_run_id":${id},"run_url":"https://api.github.com/repos${url}","html_url":"https://github.com${url}"}`,
    }
  }

  function answerHook(method: string, id: number, body: unknown): CiAnswer {
    if (!mayCreateHooks) return { status: 403, body: { message: 'Resource not accessible by personal access token' } }
    if (method === 'DELETE') return hooks.delete(id) ? { status: 204 } : { status: 404, body: { message: 'Not Found' } }
    const { config } = body as { config: { url: string; secret: string } }
    if ([...hooks.values()].some(({ url }) => url === config.url))
      return {
        status: 422,
        body: { message: 'Validation Failed', errors: [{ message: 'Hook already exists on this repository' }] },
      }
    const made = { id: ++hookSerial, ...config }
    hooks.set(made.id, made)
    return { status: 201, body: { id: made.id, active: true } }
  }

  const service = await startCiServer(answer)
  return {
    ...service,
    owner,
    repository,
    token,
    workflow,
    runs,
    hooks,
    setRun: (id: bigint, state: Partial<GithubRun>) => void Object.assign(runs.get(id) ?? {}, state),
    loseRun: (id: bigint) => void runs.delete(id),
    /** Sends the state of a run to every hook of the repository. */
    async report(id: bigint, more: Partial<{ event: string; secret: string }> = {}): Promise<CiHookDelivery[]> {
      const run = runs.get(id)
      if (!run) throw new Error(`there is no run ${id}`)
      const body = `{"action":"${run.status}","workflow_run":${toJson(run)},"repository":{"full_name":"${owner}/${repository}"}}`
      const send = ({ url, secret }: Hook) =>
        deliver(url, body, {
          'x-github-event': more.event ?? 'workflow_run',
          'x-hub-signature-256': `sha256=${createHmac('sha256', more.secret ?? secret)
            .update(body)
            .digest('hex')}`,
        })
      return Promise.all([...hooks.values()].map(send))
    },
  }
}
