import i18n from 'i18next'
import { beforeAll, describe, expect, it } from 'vitest'
import account from '../../locales/en/account.json' with { type: 'json' }
import { authMethodLabels } from './auth-method-labels.ts'
import { securityEventLabels } from './security-event-labels.ts'

beforeAll(async () => {
  await i18n.init({ lng: 'en', ns: ['account'], resources: { en: { account } }, interpolation: { escapeValue: false } })
})

describe('authMethodLabels', () => {
  it.each([
    [[{ method: 'password' }], 'a password'],
    [[{ method: 'oidc', provider: 'github' }], 'GitHub'],
    [[{ method: 'oidc', provider: 'corp' }], 'Corp'],
    [[{ method: 'oidc', provider: 'corp', provider_label: 'ACME Single Sign-On' }], 'ACME Single Sign-On'],
    [[{ method: 'oidc', provider: 'github', provider_label: 'github' }], 'GitHub'],
    [[{ method: 'oidc' }], 'a sign-in provider'],
    [[{ method: 'password' }, { method: 'totp' }], 'a password and an authenticator app'],
    [[{ method: 'password' }, { method: 'password' }], 'a password'],
    [[{ method: 'telepathy' }], 'telepathy'],
    [[], ''],
  ])('%j reads "%s"', (ways, label) => {
    expect(authMethodLabels(ways)).toBe(label)
  })
})

describe('securityEventLabels', () => {
  const at = { id: '1', ip_address: '', user_agent: '', created_at: '' }
  it.each([
    [{ event: 'signed-in', details: { method: 'oidc', provider: 'corp' } }, 'Signed in with Corp'],
    [
      { event: 'signed-in', details: { method: 'oidc', provider: 'corp', provider_label: 'ACME' } },
      'Signed in with ACME',
    ],
    [{ event: 'signed-up', details: { method: 'passkey' } }, 'Signed up with a passkey'],
    [{ event: 'recovered', details: { method: 'code_recovery' } }, 'Recovered the account with a recovery code'],
    [{ event: 'factor-added', details: { factor: 'a security key' } }, 'Added a security key'],
    [
      { event: 'address-changed', details: { from: 'a@example.com', to: '<b>@example.com' } },
      'Changed the address from a@example.com to <b>@example.com',
    ],
    [{ event: 'of-tomorrow', details: {} }, 'of-tomorrow'],
  ])('the security event %j has the label %s', (event, label) => {
    expect(securityEventLabels({ ...at, ...event })).toBe(label)
  })
})
