import { RegistryWrite } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { emptyRegistry, RegistryValues, replacedFields, toRegistryWrite } from './registry-values.ts'

const write = (values: Partial<typeof emptyRegistry>) =>
  toRegistryWrite(RegistryValues.parse({ ...emptyRegistry, name: 'Company', ...values }))

describe('a registry form', () => {
  it('sends no credentials for a public registry, even if some were typed before', () => {
    expect(write({ url: 'localhost:5000', user: 'ada', token: 'secret' })).toMatchObject({
      type: 'v2',
      details: { public: true },
    })
    expect(write({ url: 'localhost:5000', user: 'ada', token: 'secret' }).details).not.toHaveProperty('token')
  })

  it('keeps stored credentials unless the user changes them', () => {
    const kept = write({ url: 'localhost:5000', access: 'private', changeCredentials: false })
    expect(kept.details).toEqual({ url: 'localhost:5000', imageNamePrefix: '', public: false })
  })

  it('requires user and token of a private registry at their fields', () => {
    const result = RegistryValues.safeParse({
      ...emptyRegistry,
      name: 'Company',
      url: 'localhost:5000',
      access: 'private',
    })
    expect(result.error?.issues.map((issue) => issue.path[0])).toEqual(['user', 'token'])
  })

  it.each([
    { type: 'v2', url: 'localhost:5000', imageNamePrefix: 'team' },
    { type: 'hub', imageNamePrefix: 'library' },
    { type: 'gitlab', imageNamePrefix: 'group/project', gitlabNamespace: 'project', user: 'ada', token: 'x' },
    {
      type: 'gitlab',
      imageNamePrefix: 'group',
      selfManaged: true,
      url: 'registry.example.com',
      apiUrl: 'gitlab.example.com',
      user: 'ada',
      token: 'x',
    },
    { type: 'github', imageNamePrefix: 'ada', githubNamespace: 'user', user: 'ada', token: 'x' },
    { type: 'google', imageNamePrefix: 'project', googleHost: 'eu.gcr.io' },
    { type: 'google', imageNamePrefix: 'project/repository', googleHost: 'artifact', url: 'us-docker.pkg.dev' },
    { type: 'unchecked', local: true },
    { type: 'unchecked', url: 'localhost:5000', access: 'private', user: 'ada', token: 'x' },
  ] as const)('makes a request that the contract accepts for %o', (values) => {
    expect(RegistryWrite.safeParse(write(values)).success).toBe(true)
  })

  it('requires credentials of GitLab and GitHub, and both addresses of a self-managed GitLab', () => {
    const paths = (values: Partial<typeof emptyRegistry>) =>
      RegistryValues.safeParse({
        ...emptyRegistry,
        name: 'Company',
        imageNamePrefix: 'x',
        ...values,
      }).error?.issues.map((issue) => issue.path[0])
    expect(paths({ type: 'github' })).toEqual(['user', 'token'])
    expect(paths({ type: 'gitlab', selfManaged: true, user: 'a', token: 'b' })).toEqual(['url', 'apiUrl'])
  })

  it('sends the chosen host of Google, or that of a region', () => {
    const google = { type: 'google', imageNamePrefix: 'p', url: 'us-docker.pkg.dev' } as const
    expect(write({ ...google, googleHost: 'eu.gcr.io' }).details).toMatchObject({ url: 'eu.gcr.io' })
    expect(write({ ...google, googleHost: 'artifact' }).details).toMatchObject({ url: 'us-docker.pkg.dev' })
  })

  it('shows an error of a field that it does not have at one that it has', () => {
    expect(replacedFields(emptyRegistry)).toEqual({ user: 'access', token: 'access' })
    expect(replacedFields({ ...emptyRegistry, type: 'google', access: 'private' })).toEqual({ url: 'googleHost' })
    const kept = { ...emptyRegistry, type: 'gitlab', changeCredentials: false } as const
    expect(replacedFields(kept)).toEqual({ url: 'imageNamePrefix', user: 'imageNamePrefix', token: 'imageNamePrefix' })
  })
})
