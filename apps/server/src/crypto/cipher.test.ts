import { describe, expect, it } from 'vitest'
import { createCipher, generateKey, type SecretLocation } from './cipher.ts'

const here: SecretLocation = { column: 'registry.token', row: '0199a7d3-8c52-7f0b-9d4e-2f6a1b3c5d7e' }

describe('the cipher', () => {
  it('decrypts what it encrypted, and encrypts the same text differently each time', () => {
    const cipher = createCipher({ key: generateKey() })
    const [one, two] = [cipher.encrypt('pässword', here), cipher.encrypt('pässword', here)]
    expect(cipher.decrypt(one, here)).toBe('pässword')
    expect(one).not.toBe(two)
    expect(one).not.toContain('pässword')
    expect(cipher.decrypt(cipher.encrypt('', here), here)).toBe('')
  })

  it('refuses a text that was changed in any part', () => {
    const cipher = createCipher({ key: generateKey() })
    const parts = cipher.encrypt('secret', here).split('.')
    for (const index of [0, 1, 2, 3]) {
      const changed = parts.map((part, at) => (at === index ? `${part[0] === 'A' ? 'B' : 'A'}${part.slice(1)}` : part))
      expect(() => cipher.decrypt(changed.join('.'), here)).toThrow()
    }
    expect(() => cipher.decrypt(parts.join('.').slice(0, -8), here)).toThrow()
  })

  it('refuses a text that was encrypted for another row or another column', () => {
    const cipher = createCipher({ key: generateKey() })
    const sealed = cipher.encrypt('secret', here)
    for (const other of [
      { ...here, row: '0199a7d3-8c52-7f0b-9d4e-2f6a1b3c5d7f' },
      { ...here, column: 'node_install.token' },
    ] as const) {
      expect(() => cipher.decrypt(sealed, other)).toThrow()
      expect(() => createCipher({ key: generateKey(), deprecatedKey: generateKey() }).reseal(sealed, other)).toThrow()
    }
  })

  it('decrypts with the deprecated key and encrypts again with the current one', () => {
    const [old, current] = [generateKey(), generateKey()]
    const sealed = createCipher({ key: old }).encrypt('secret', here)
    const rotating = createCipher({ key: current, deprecatedKey: old })
    expect(rotating.decrypt(sealed, here)).toBe('secret')
    const resealed = rotating.reseal(sealed, here)
    expect(resealed && createCipher({ key: current }).decrypt(resealed, here)).toBe('secret')
    expect(resealed && rotating.reseal(resealed, here)).toBeUndefined()
    expect(() => createCipher({ key: current }).decrypt(sealed, here)).toThrow('not configured')
  })
})
