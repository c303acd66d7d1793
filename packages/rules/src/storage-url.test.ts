import { describe, expect, it } from 'vitest'
import { parseStorageUrl } from './storage-url.ts'

describe('the address of a storage', () => {
  it.each([
    ['s3.example.com', 'https://s3.example.com'],
    [' https://s3.example.com/ ', 'https://s3.example.com'],
    ['localhost:7070', 'https://localhost:7070'],
    ['http://127.0.0.1:7070', 'http://127.0.0.1:7070'],
    ['https://example.com/storage/v1/s3/', 'https://example.com/storage/v1/s3'],
    ['[::1]:9000', 'https://[::1]:9000'],
  ])('reads %j as %j', (text, url) => expect(parseStorageUrl(text)).toEqual({ ok: true, url }))

  it.each(['', '-x', 'ftp://a', 'a b', 'https://key:secret@host', 'host?x=1', 'host#x', 'https://', 'file:///etc'])(
    'refuses %j',
    (text) => expect(parseStorageUrl(text)).toMatchObject({ ok: false, problem: expect.any(String) }),
  )
})
