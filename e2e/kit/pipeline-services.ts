import { startAzureDevOps, startGithubActions, startGitlabCi, waitFor } from '@crux/test-kit'

/** One of the services as the journey uses it: what the form asks for, and its newest run. */
export type PipelineService = {
  name: 'Azure DevOps' | 'GitHub' | 'GitLab'
  /** By label of the form. */
  fields: Record<string, string>
  token: string
  /** What the hook and the runs that the service knows look like from outside. */
  countHooks: () => number
  countRuns: () => number
  /** The inputs of the newest run. */
  getInputs: () => Promise<Record<string, string>>
  /** Ends the newest run and reports it to the hooks of the service. */
  finish: (result: 'successful' | 'failed') => Promise<void>
  stop: () => Promise<void>
}

const newest = <R>(runs: Map<unknown, R>): Promise<R> =>
  waitFor('the service has a run', async () => [...runs.values()].at(-1))

async function expectDelivered(deliveries: Promise<{ status: number; text: string }[]>): Promise<void> {
  const refused = (await deliveries).filter(({ status }) => status !== 204)
  if (refused.length > 0) throw new Error(`Crux refused a delivery: ${JSON.stringify(refused)}`)
}

/** Servers with the documented APIs of the three services, and the settings with which Crux uses them. */
export async function startPipelineServices() {
  const [azure, github, gitlab] = await Promise.all([startAzureDevOps(), startGithubActions(), startGitlabCi()])
  const services = {
    azure: {
      name: 'Azure DevOps',
      fields: { Organization: azure.organization, Project: azure.project, 'Pipeline name': 'deploy' },
      token: azure.token,
      countHooks: () => azure.subscriptions.size,
      countRuns: () => azure.runs.size,
      async getInputs() {
        const { variables } = await newest(azure.runs)
        return Object.fromEntries(Object.entries(variables).map(([key, { value }]) => [key, value]))
      },
      async finish(result) {
        const { id } = await newest(azure.runs)
        const finishedDate = new Date().toISOString()
        azure.setRun(id, {
          state: 'completed',
          result: result === 'successful' ? 'succeeded' : 'failed',
          finishedDate,
        })
        await expectDelivered(azure.report(id))
      },
      stop: azure.stop,
    },
    github: {
      name: 'GitHub',
      fields: { Owner: github.owner, Repository: github.repository, 'Workflow file': github.workflow },
      token: github.token,
      countHooks: () => github.hooks.size,
      countRuns: () => github.runs.size,
      getInputs: async () => (await newest(github.runs)).inputs,
      async finish(result) {
        const { id } = await newest(github.runs)
        github.setRun(id, { status: 'completed', conclusion: result === 'successful' ? 'success' : 'failure' })
        await expectDelivered(github.report(id))
      },
      stop: github.stop,
    },
    gitlab: {
      name: 'GitLab',
      fields: { Group: gitlab.group, Project: gitlab.project },
      token: gitlab.token,
      countHooks: () => gitlab.hooks.size,
      countRuns: () => gitlab.runs.size,
      async getInputs() {
        const { variables } = await newest(gitlab.runs)
        return Object.fromEntries(variables.map(({ key, value }) => [key, value]))
      },
      async finish(result) {
        const { id } = await newest(gitlab.runs)
        gitlab.setRun(id, {
          status: result === 'successful' ? 'success' : 'failed',
          finishedAt: new Date().toISOString(),
        })
        await expectDelivered(gitlab.report(id))
      },
      stop: gitlab.stop,
    },
  } satisfies Record<string, PipelineService>
  return {
    ...services,
    env: { AZURE_URL: azure.url, GITHUB_API_URL: github.url, GITLAB_URL: gitlab.url },
    stop: () => Promise.all(Object.values(services).map((service) => service.stop())),
  }
}
