import type { App } from '../context.ts'
import type { PipelineLocation } from './api/pipeline-api.ts'

type Addresses = Pick<App['config'], 'azureUrl' | 'githubApiUrl' | 'gitlabUrl'>

/** The page of a pipeline at its service, where people look after its runs. */
export function toServicePage(config: Addresses, location: PipelineLocation): string {
  const { type, organization, project, triggerName, externalPipelineId } = location
  const path = [...organization.split('/'), project].map(encodeURIComponent).join('/')
  if (type === 'azure') {
    const definition = externalPipelineId ? `?definitionId=${encodeURIComponent(externalPipelineId)}` : ''
    return `${config.azureUrl}/${path}/_build${definition}`
  }
  if (type === 'gitlab') return `${config.gitlabUrl}/${path}/-/pipelines`
  return `${toGithubSite(config.githubApiUrl)}/${path}/actions/workflows/${encodeURIComponent(triggerName)}`
}

/** GitHub has its API on a host of its own, GitHub Enterprise Server below its pages. */
const toGithubSite = (apiUrl: string): string =>
  apiUrl.replace(/^https:\/\/api\.github\.com\/?$/, 'https://github.com').replace(/\/api\/v3\/?$/, '')
