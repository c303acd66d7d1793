import { parseConfig } from '@crux/service-kit'
import { describe, expect, it } from 'vitest'
import { identitySettings } from './config.ts'
import { readProviders } from './oidc-providers.ts'

const required = {
  DATABASE_URL: 'postgresql://crux@localhost/crux',
  CRUX_URL: 'http://localhost:8000',
  CRUX_SECRET: 'a secret of enough characters',
  IDENTITY_ADMIN_TOKEN: 'a token of enough characters',
}
const parse = (env: Record<string, string>) => parseConfig(identitySettings, { ...required, ...env })
const corp = { id: 'corp', issuer: 'https://id.example.com/', clientId: 'crux', clientSecret: 'hush hush' }

describe('the provider settings', () => {
  it('are none by default', () => {
    expect(readProviders(parse({}))).toEqual([])
  })

  it('configure the common providers by two values, and any issuer by a list', () => {
    const providers = readProviders(
      parse({
        OIDC_GOOGLE_CLIENT_ID: 'g',
        OIDC_GOOGLE_CLIENT_SECRET: 'g',
        OIDC_GITLAB_CLIENT_ID: 'l',
        OIDC_GITLAB_CLIENT_SECRET: 'l',
        OIDC_GITLAB_URL: 'https://git.example.com/',
        OIDC_GITHUB_CLIENT_ID: 'h',
        OIDC_GITHUB_CLIENT_SECRET: 'h',
        OIDC_AZURE_CLIENT_ID: 'a',
        OIDC_AZURE_CLIENT_SECRET: 'a',
        OIDC_AZURE_TENANT: 'contoso.onmicrosoft.com',
        OIDC_PROVIDERS: JSON.stringify([corp]),
      }),
    )
    expect(providers.map(({ id, label, url }) => [id, label, url])).toEqual([
      ['google', 'Google', 'https://accounts.google.com'],
      ['gitlab', 'GitLab', 'https://git.example.com'],
      ['github', 'GitHub', 'https://github.com'],
      ['azure', 'Microsoft', 'https://login.microsoftonline.com/contoso.onmicrosoft.com/v2.0'],
      ['corp', 'corp', 'https://id.example.com'],
    ])
  })

  it('do not trust the addresses of providers whose users can enter any address', () => {
    const [azure] = readProviders(parse({ OIDC_AZURE_CLIENT_ID: 'a', OIDC_AZURE_CLIENT_SECRET: 'a' }))
    expect(azure?.verifiesEmail).toBe(false)
  })

  it.each([
    ['a secret is missing', { OIDC_GITHUB_CLIENT_ID: 'x' }, 'OIDC_GITHUB_CLIENT_SECRET'],
    ['an id is missing', { OIDC_GOOGLE_CLIENT_SECRET: 'hush hush' }, 'OIDC_GOOGLE_CLIENT_ID'],
    ['it is no JSON', { OIDC_PROVIDERS: '{id: hush hush' }, 'OIDC_PROVIDERS'],
    ['it is no list', { OIDC_PROVIDERS: JSON.stringify(corp) }, 'OIDC_PROVIDERS'],
    ['a field is unknown', { OIDC_PROVIDERS: JSON.stringify([{ ...corp, client: 'x' }]) }, 'OIDC_PROVIDERS'],
    ['a field is missing', { OIDC_PROVIDERS: JSON.stringify([{ ...corp, clientId: undefined }]) }, 'OIDC_PROVIDERS'],
    ['an id would not fit an address', { OIDC_PROVIDERS: JSON.stringify([{ ...corp, id: 'A b' }]) }, 'OIDC_PROVIDERS'],
    ['an id is there twice', { OIDC_PROVIDERS: JSON.stringify([corp, corp]) }, 'OIDC_PROVIDERS'],
    [
      'an issuer is not reached in secret',
      { OIDC_PROVIDERS: JSON.stringify([{ ...corp, issuer: 'http://id.example.com' }]) },
      'OIDC_PROVIDERS',
    ],
    ['a tenant is no name', { OIDC_AZURE_TENANT: 'a/../b' }, 'OIDC_AZURE_TENANT'],
  ])('fail the start in one line without secrets when %s', (_what, env, name) => {
    const attempt = () => parse(env as Record<string, string>)
    expect(attempt).toThrow(new RegExp(`^${name} [^\\n]*$`))
    expect(attempt).not.toThrow(/hush/)
  })
})
