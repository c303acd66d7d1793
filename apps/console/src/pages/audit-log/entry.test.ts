import { describe, expect, it } from 'vitest'
import { operationOf, plainOperation, shortData } from './entry.ts'

describe('an entry of the audit log', () => {
  it('names its operation in words', () => {
    expect(operationOf('registry registries.create')).toBe('registries.create')
    expect(plainOperation('service-accounts.create-token')).toBe('Service accounts: create token')
    expect(plainOperation('set-image-tag')).toBe('Set image tag')
  })

  it('says why it was refused before what was sent, and what was sent before the ids of the address', () => {
    const data = { params: { nodeId: '1' }, body: { name: 'web' }, refused: { error: 'forbidden' } }
    expect(shortData(data)).toBe('"error":"forbidden", "name":"web", "nodeId":"1"')
  })

  it('shortens long data and shows nothing for none', () => {
    expect(shortData({ body: { text: 'x'.repeat(500) } }, 20)).toHaveLength(23)
    expect(shortData(null)).toBe('')
    expect(shortData({ params: {} })).toBe('')
  })
})
