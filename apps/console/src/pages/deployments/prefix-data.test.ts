import type { PrefixData } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { hasData, isNoData, noData, staysWithClaims, toggleClaim } from './prefix-data.ts'

const toClaim = (name: string) => ({ name, uid: `uid-${name}`, size: '1Gi', phase: 'Bound' })
const data: PrefixData = {
  claims: [toClaim('web-data'), toClaim('web-cache')],
  namespace: { exists: true, reason: null, foreignObjects: [] },
}
const [first, second] = data.claims.map(({ name, uid }) => ({ name, uid }))
if (!first || !second) throw new Error('two claims were made')

describe('the data that is deleted with a prefix', () => {
  it('has nothing in it before anything is chosen', () => {
    expect(isNoData(noData)).toBe(true)
    expect(staysWithClaims(data, noData)).toBe(true)
  })

  it('allows the namespace only with every claim', () => {
    const one = toggleClaim(data, noData, first)
    expect(one).toEqual({ claims: [first], namespace: false })
    expect(staysWithClaims(data, one)).toBe(true)
    expect(staysWithClaims(data, toggleClaim(data, one, second))).toBe(false)
  })

  it('loses the namespace with the first claim that is kept after all', () => {
    const all = { claims: [first, second], namespace: true }
    expect(toggleClaim(data, all, second)).toEqual({ claims: [first], namespace: false })
  })

  it('is asked about where a claim, or a namespace of the node, stays', () => {
    expect(hasData(data)).toBe(true)
    expect(hasData({ ...data, claims: [] })).toBe(true)
    expect(hasData({ claims: [], namespace: { exists: false, foreignObjects: [] } })).toBe(false)
    expect(hasData({ claims: [], namespace: { exists: true, reason: 'of others', foreignObjects: [] } })).toBe(false)
  })
})
