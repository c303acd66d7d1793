import { describe, expect, it } from 'vitest'
import { redactorOf } from './redaction.ts'

describe('a text', () => {
  it('loses every value, the longest first, whatever characters it has', () => {
    const redact = redactorOf(['hunter2', 'hunter2-longer', 'a.b*c[1](x)|$^{2}\\/-', 'short'])
    expect(redact('pw=hunter2-longer, hunter2; a.b*c[1](x)|$^{2}\\/- aXb*c[1] short')).toBe(
      'pw=***, ***; *** aXb*c[1] short',
    )
  })

  it('loses each line of a value that has several', () => {
    const redact = redactorOf(['-----BEGIN KEY-----\r\nMIIBOgIBAAJB\nxyz\n-----END KEY-----'])
    expect(redact('read MIIBOgIBAAJB and xyz')).toBe('read *** and xyz')
  })

  it('is left alone without values', () => {
    expect(redactorOf([])('text')).toBe('text')
    expect(redactorOf(['', 'true', '5432'])('true at 5432')).toBe('true at 5432')
  })
})
