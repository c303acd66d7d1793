import type { Body } from '@crux/contract'
import {
  type AzureDevOps,
  type GithubActions,
  type GitlabCi,
  startAzureDevOps,
  startGithubActions,
  startGitlabCi,
} from '@crux/test-kit'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from './index.ts'

type Write = Body<'pipelines.create'>

let serial = 0

/** A pipeline of the only pipeline of an Azure DevOps of the test kit. */
export const toAzureWrite = (azure: AzureDevOps, write: Partial<Write> = {}): Write => ({
  name: `Pipeline ${++serial}`,
  type: 'azure',
  repository: { organization: azure.organization, project: azure.project },
  trigger: { name: 'deploy', inputs: [] },
  token: azure.token,
  ...write,
})

/** A pipeline of the only workflow of a GitHub of the test kit. */
export const toGithubWrite = (github: GithubActions, write: Partial<Write> = {}): Write => ({
  name: `GitHub ${++serial}`,
  type: 'github',
  repository: { organization: github.owner, project: github.repository },
  trigger: { name: github.workflow, inputs: [] },
  token: github.token,
  ...write,
})

/** A pipeline of the only project of a GitLab of the test kit. */
export const toGitlabWrite = (gitlab: GitlabCi, write: Partial<Write> = {}): Write => ({
  name: `GitLab ${++serial}`,
  type: 'gitlab',
  repository: { organization: gitlab.group, project: gitlab.project },
  trigger: { name: '', inputs: [] },
  token: gitlab.token,
  ...write,
})

/** Calls of one team's pipelines. */
export function usePipelines(crux: TestServer, someone: Someone, team: TestTeam) {
  const { call } = crux.client(someone)
  const params = { teamSlug: team.slug }
  const at = (pipelineId: string) => ({ ...params, pipelineId })
  return {
    list: () => call('pipelines.list', { params }),
    get: (id: string) => call('pipelines.get', { params: at(id) }),
    create: (body: Write) => call('pipelines.create', { params, body }),
    update: (id: string, body: Write) => call('pipelines.update', { params: at(id), body }),
    remove: (id: string) => call('pipelines.delete', { params: at(id) }),
    trigger: (id: string, inputs?: { key: string; value: string }[]) =>
      call('pipelines.trigger', { params: at(id), body: inputs ? { inputs } : {} }),
    async runs(id: string) {
      const { items } = await call('pipelines.runs', { params: at(id), query: { skip: 0, take: 100 } })
      return items
    },
    async lastRun(id: string) {
      const { items } = await call('pipelines.runs', { params: at(id), query: { skip: 0, take: 1 } })
      const [run] = items
      if (!run) throw new Error('the pipeline has no run')
      return run
    },
    watch: (id: string, body: Body<'pipelines.create-event-watcher'>) =>
      call('pipelines.create-event-watcher', { params: at(id), body }),
  }
}
export type Pipelines = ReturnType<typeof usePipelines>

/** A server that knows one service of each type, and a team with its pipelines. */
export async function startPipelineServices(options: Parameters<typeof startGithubActions>[0] = {}) {
  const [azure, github, gitlab] = await Promise.all([startAzureDevOps(), startGithubActions(options), startGitlabCi()])
  const crux = await startTestServer({
    config: { azureUrl: azure.url, githubApiUrl: github.url, gitlabUrl: gitlab.url },
  })
  const owner = crux.signUp('Ada')
  const team = await crux.createTeam(owner)
  const stop = async () => {
    await crux.stop()
    await Promise.all([azure, github, gitlab].map((service) => service.stop()))
  }
  return { azure, github, gitlab, crux, owner, team, ours: usePipelines(crux, owner, team), stop }
}
export type PipelineServices = Awaited<ReturnType<typeof startPipelineServices>>

/** Makes everything due that is to be done for unfinished runs, and lets the servers do it. */
export async function makeDue(crux: TestServer): Promise<void> {
  const { rows } = await crux.app.database.pool.query<{ id: string; pipelineId: string; teamId: string }>(
    `update crux.pipeline_run r set next_check_at = now() from crux.pipeline p
     where p.id = r.pipeline_id and r.next_check_at is not null returning r.id, r.pipeline_id, p.team_id`,
  )
  for (const { id, pipelineId, teamId } of rows)
    crux.app.bus.publish({ type: 'pipeline.run', teamId, pipelineId, runId: id, due: true })
}

/** Lets servers look at the run until it has this status. */
export const untilRun = (crux: TestServer, pipelines: Pipelines, pipelineId: string, id: string, status: string) =>
  until(async () => {
    await makeDue(crux)
    const run = (await pipelines.runs(pipelineId)).find((one) => one.id === id)
    return run?.status === status ? run : undefined
  })
