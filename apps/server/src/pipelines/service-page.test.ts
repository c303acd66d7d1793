import { expect, test } from 'vitest'
import { toServicePage } from './service-page.ts'

const config = {
  azureUrl: 'https://dev.azure.com',
  githubApiUrl: 'https://api.github.com',
  gitlabUrl: 'https://gitlab.example.com',
}
const location = {
  organization: 'acme/platform',
  project: 'Data Platform',
  branch: null,
  triggerName: 'release.yml',
  externalProjectId: null,
  externalPipelineId: '42',
}

test.each([
  ['azure', 'https://dev.azure.com/acme/platform/Data%20Platform/_build?definitionId=42'],
  ['github', 'https://github.com/acme/platform/Data%20Platform/actions/workflows/release.yml'],
  ['gitlab', 'https://gitlab.example.com/acme/platform/Data%20Platform/-/pipelines'],
] as const)('the page of a pipeline of %s is at its own site', (type, expected) => {
  expect(toServicePage(config, { ...location, type })).toBe(expected)
})

test('pages of GitHub Enterprise Server are above its API', () => {
  const own = { ...config, githubApiUrl: 'https://git.example.com/api/v3' }
  expect(toServicePage(own, { ...location, type: 'github' })).toMatch(/^https:\/\/git\.example\.com\/acme\//)
})
