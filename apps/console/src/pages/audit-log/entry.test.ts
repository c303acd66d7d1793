import { describe, expect, it } from 'vitest'
import { detailOf, operationOf, plainOperation, sentenceKeysOf } from './entry.ts'

describe('an entry of the audit log', () => {
  it('names its operation in words', () => {
    expect(operationOf('registry registries.create')).toBe('registries.create')
    expect(plainOperation('service-accounts.create-token')).toBe('Service accounts: create token')
    expect(plainOperation('set-image-tag')).toBe('Set image tag')
  })

  it('finds the sentence of a message of a live channel, whose event names the channel too', () => {
    expect(sentenceKeysOf(operationOf('container node.container-command'))).toContain('container-command')
    expect(sentenceKeysOf(operationOf('registry registries.create'))).toContain('registries_create')
  })

  it('is told apart by a name, a tag, an address or a container of the request', () => {
    expect(detailOf({ params: { projectId: '1' }, body: { name: '1.1.0' } })).toBe('1.1.0')
    expect(detailOf({ body: { imageId: '1', tag: '2.0' } })).toBe('2.0')
    expect(detailOf({ body: { email: 'grace@example.com', firstName: 'Grace' } })).toBe('grace@example.com')
    expect(detailOf({ body: { container: { prefix: 'shop', name: 'web' }, operation: 'stop' } })).toBe('stop shop-web')
  })

  it('has no detail for a request that cannot be read', () => {
    for (const data of [null, {}, { params: { nodeId: '1' } }, { body: [] }, { body: { protected: true } }])
      expect(detailOf(data)).toBeUndefined()
  })
})
