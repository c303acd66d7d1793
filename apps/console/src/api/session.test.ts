import { describe, expect, it } from 'vitest'
import { loginAddress, safeReturn } from './session.ts'

describe('the return address after sign-in', () => {
  it('accepts a page of this console', () => {
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

  it('omits the start page and sign-in pages', () => {
    expect(loginAddress('/')).toBe('/auth/login')
    expect(loginAddress('/auth/verify')).toBe('/auth/login')
    expect(loginAddress('/auth/settings/tokens')).toBe('/auth/login?return_to=%2Fauth%2Fsettings%2Ftokens')
    expect(loginAddress('/acme/projects')).toBe('/auth/login?return_to=%2Facme%2Fprojects')
  })
})
