import { describe, expect, it } from 'vitest'
import { getPrefix, getTeamSlug, toSlug } from './slug.ts'

describe('slugs', () => {
  it('have no accents and no characters that are invalid in addresses', () => {
    expect(toSlug('  Möbel & Cö  GmbH! ')).toBe('mobel-co-gmbh')
  })

  it('are unchanged by another conversion', () => {
    for (const name of ['Ärger im Büro', 'a--b', '-x-', 'Team 7']) expect(toSlug(toSlug(name))).toBe(toSlug(name))
  })

  it('of team names are cut after a whole word', () => {
    expect(getTeamSlug('Acme Shipping')).toBe('acme-shipping')
    expect(getTeamSlug('Größe & Co')).toBe('grosse-co')
    expect(getTeamSlug('Very Good Shipping Team')).toBe('very-good')
    expect(getTeamSlug('a'.repeat(30))).toBe('a'.repeat(16))
  })

  it('of project names are DNS labels for prefixes', () => {
    expect(getPrefix('My shop')).toBe('my-shop')
    expect(getPrefix(`${'a'.repeat(62)} b`)).toBe('a'.repeat(62))
  })
})
