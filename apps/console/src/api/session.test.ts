import { describe, expect, it } from 'vitest'
import { loginAddress, safeReturn } from './session.ts'

describe('coming back after sign-in', () => {
  it('returns to a page of this console', () => {
    expect(safeReturn('/acme/nodes?x=1#new')).toBe('/acme/nodes?x=1#new')
  })

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    undefined,
    '/auth/logout',
  ])('goes to the start page instead of %s', (address) => {
    expect(safeReturn(address)).toBe('/')
  })

  it('does not carry the start page or a sign-in page along', () => {
    expect(loginAddress('/')).toBe('/auth/login')
    expect(loginAddress('/auth/verify')).toBe('/auth/login')
    expect(loginAddress('/auth/settings/tokens')).toBe('/auth/login?return_to=%2Fauth%2Fsettings%2Ftokens')
    expect(loginAddress('/acme/projects')).toBe('/auth/login?return_to=%2Facme%2Fprojects')
  })
})
