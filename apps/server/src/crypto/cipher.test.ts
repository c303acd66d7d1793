import { describe, expect, it } from 'vitest'
import { createCipher, generateKey } from './cipher.ts'

describe('cipher', () => {
  it('opens what it sealed, and seals the same text differently each time', () => {
    const cipher = createCipher({ key: generateKey() })
    const [one, two] = [cipher.encrypt('pässword'), cipher.encrypt('pässword')]
    expect(cipher.decrypt(one)).toBe('pässword')
    expect(one).not.toBe(two)
    expect(one).not.toContain('pässword')
    expect(cipher.decrypt(cipher.encrypt(''))).toBe('')
  })

  it('refuses a text that was changed in any part', () => {
    const cipher = createCipher({ key: generateKey() })
    const parts = cipher.encrypt('secret').split('.')
    for (const index of [0, 1, 2, 3]) {
      const changed = parts.map((part, at) => (at === index ? `${part[0] === 'A' ? 'B' : 'A'}${part.slice(1)}` : part))
      expect(() => cipher.decrypt(changed.join('.'))).toThrow()
    }
    expect(() => cipher.decrypt(parts.join('.').slice(0, -8))).toThrow()
  })

  it('reads with the deprecated key and reseals with the current one', () => {
    const [old, current] = [generateKey(), generateKey()]
    const sealed = createCipher({ key: old }).encrypt('secret')
    const rotating = createCipher({ key: current, deprecatedKey: old })
    expect(rotating.decrypt(sealed)).toBe('secret')
    const resealed = rotating.reseal(sealed)
    expect(resealed && createCipher({ key: current }).decrypt(resealed)).toBe('secret')
    expect(resealed && rotating.reseal(resealed)).toBeUndefined()
    expect(() => createCipher({ key: current }).decrypt(sealed)).toThrow('not configured')
  })
})
