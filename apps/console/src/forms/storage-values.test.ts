import { describe, expect, it } from 'vitest'
import { emptyStorage, fromStorage, StorageValues, toStorageWrite } from './storage-values.ts'

const stored = {
  id: '2f0a8a0e-6d0c-4a8e-9c39-2f0a8a0e6d0c',
  name: 'Assets',
  description: null,
  icon: null,
  url: 'https://s3.example.com',
  public: false,
  inUse: true,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}

describe('the form of a storage', () => {
  it('sends no keys while the stored keys are kept', () => {
    const sent = toStorageWrite(StorageValues.parse({ ...fromStorage(stored), name: 'Pictures' }))
    expect(sent).toMatchObject({ name: 'Pictures', public: false })
    expect(sent).not.toHaveProperty('accessKey')
    expect(sent).not.toHaveProperty('secretKey')
  })

  it('requires both keys if they change, and none for a public storage', () => {
    const typed = { ...emptyStorage, name: 'Assets', url: 's3.example.com', accessKey: 'id' }
    expect(StorageValues.safeParse(typed).error?.issues.map(({ path }) => path)).toEqual([['secretKey']])
    const open = toStorageWrite(StorageValues.parse({ ...typed, public: true }))
    expect(open).toMatchObject({ public: true })
    expect(open).not.toHaveProperty('accessKey')
  })

  it('requires keys when a public storage becomes private', () => {
    const closed = { ...fromStorage({ ...stored, public: true }), public: false }
    expect(StorageValues.safeParse(closed).success).toBe(false)
  })
})
