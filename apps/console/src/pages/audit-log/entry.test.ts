import { describe, expect, it } from 'vitest'
import { getDetail, getOperation, getSentenceKeys, plainOperation } from './entry.ts'

describe('an entry of the audit log', () => {
  it('has a readable text for its operation', () => {
    expect(getOperation('registry registries.create')).toBe('registries.create')
    expect(plainOperation('service-accounts.create-token')).toBe('Service accounts: create token')
    expect(plainOperation('set-image-tag')).toBe('Set image tag')
  })

  it('has the text of a live message whose event also names the channel', () => {
    expect(getSentenceKeys(getOperation('container node.container-command'))).toContain('container-command')
    expect(getSentenceKeys(getOperation('registry registries.create'))).toContain('registries_create')
  })

  it('has a name, a tag, an address or a container of the request as its detail', () => {
    expect(getDetail({ params: { projectId: '1' }, body: { name: '1.1.0' } })).toBe('1.1.0')
    expect(getDetail({ body: { imageId: '1', tag: '2.0' } })).toBe('2.0')
    expect(getDetail({ body: { email: 'grace@example.com', firstName: 'Grace' } })).toBe('grace@example.com')
    expect(getDetail({ body: { container: { prefix: 'shop', name: 'web' }, operation: 'stop' } })).toBe('stop shop-web')
  })

  it('has no detail for a request that cannot be read', () => {
    for (const data of [null, {}, { params: { nodeId: '1' } }, { body: [] }, { body: { protected: true } }])
      expect(getDetail(data)).toBeUndefined()
  })
})
