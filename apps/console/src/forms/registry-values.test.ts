import { RegistryWrite } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { emptyRegistry, RegistryValues, toRegistryWrite } from './registry-values.ts'

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
    { type: 'unchecked', local: true },
    { type: 'unchecked', url: 'localhost:5000', access: 'private', user: 'ada', token: 'x' },
  ] as const)('makes a request that the contract accepts for %o', (values) => {
    expect(RegistryWrite.safeParse(write(values)).success).toBe(true)
  })
})
