import { describe, expect, it } from 'vitest'
import { createRedactor } from './redaction.ts'

describe('createRedactor', () => {
  it('removes every value, the longest first, whatever characters it has', () => {
    const redact = createRedactor(['hunter2', 'hunter2-longer', 'a.b*c[1](x)|$^{2}\\/-', 'short'])
    expect(redact('pw=hunter2-longer, hunter2; a.b*c[1](x)|$^{2}\\/- aXb*c[1] short')).toBe(
      'pw=***, ***; *** aXb*c[1] short',
    )
  })

  it('removes each line of a value with several lines', () => {
    const redact = createRedactor(['-----BEGIN KEY-----\r\nMIIBOgIBAAJB\nxyz\n-----END KEY-----'])
    expect(redact('read MIIBOgIBAAJB and xyz')).toBe('read *** and xyz')
  })

  it('leaves a text unchanged without values', () => {
    expect(createRedactor([])('text')).toBe('text')
    expect(createRedactor(['', 'true', '5432'])('true at 5432')).toBe('true at 5432')
  })

  it('removes values of any length and number, such as certificates, and never fails with one of them', () => {
    const long = 'y'.repeat(1_048_576)
    const many = Array.from({ length: 2_000 }, (_, index) => `secret-${index}-${'z'.repeat(1_000)}`)
    const redact = createRedactor([long, ...many])
    expect(redact(`a ${long} b ${many.join(' ')} secret-1`)).toBe(`a *** b ${many.map(() => '***').join(' ')} secret-1`)
  })
})
