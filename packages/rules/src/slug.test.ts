import { describe, expect, it } from 'vitest'
import { prefixOf, slugOf, teamSlugOf } from './slug.ts'

describe('slugs', () => {
  it('have no accents and no characters that are invalid in addresses', () => {
    expect(slugOf('  Möbel & Cö  GmbH! ')).toBe('mobel-co-gmbh')
  })

  it('are unchanged by another conversion', () => {
    for (const name of ['Ärger im Büro', 'a--b', '-x-', 'Team 7']) expect(slugOf(slugOf(name))).toBe(slugOf(name))
  })

  it('of team names are cut after a whole word', () => {
    expect(teamSlugOf('Acme Shipping')).toBe('acme-shipping')
    expect(teamSlugOf('Größe & Co')).toBe('grosse-co')
    expect(teamSlugOf('Very Good Shipping Team')).toBe('very-good')
    expect(teamSlugOf('a'.repeat(30))).toBe('a'.repeat(16))
  })

  it('of project names are DNS labels for prefixes', () => {
    expect(prefixOf('My shop')).toBe('my-shop')
    expect(prefixOf(`${'a'.repeat(62)} b`)).toBe('a'.repeat(62))
  })
})
