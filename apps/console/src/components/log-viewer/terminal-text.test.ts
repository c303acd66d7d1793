import { describe, expect, it } from 'vitest'
import { pieces, plainText } from './terminal-text.ts'

const e = '\u001b'

describe('terminal text', () => {
  it('converts colours to tones and keeps the text', () => {
    expect(pieces(`${e}[31mfailed${e}[0m to ${e}[1;32mstart${e}[m`)).toEqual([
      { text: 'failed', className: 'text-failed' },
      { text: ' to ', className: undefined },
      { text: 'start', className: 'text-running font-semibold' },
    ])
  })

  it('skips the parameters of extended colours, so that no number appears in the text', () => {
    expect(pieces(`${e}[38;5;9mred${e}[38;2;10;20;30;4mtrue`)).toEqual([
      { text: 'red', className: 'text-failed' },
      { text: 'true', className: 'text-failed underline' },
    ])
  })

  it.each([
    ['cursor movement', `${e}[2K${e}[1Gdone`, 'done'],
    ['window titles', `${e}]0;evil title\u0007ok`, 'ok'],
    ['terminal links', `${e}]8;;http://evil.example${e}\\text${e}]8;;${e}\\`, 'text'],
    ['an unfinished sequence', `ok${e}[`, 'ok\ufffd['],
    ['direction overrides', 'user\u202etxt.exe', 'user\ufffdtxt.exe'],
    ['carriage returns', 'one\r', 'one'],
  ])('takes %s out', (_, line, text) => {
    expect(plainText(line)).toBe(text)
    expect(
      pieces(line)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text)
  })

  it('shows markup as plain text', () => {
    expect(pieces('<img src=x onerror=alert(1)>')).toEqual([{ text: '<img src=x onerror=alert(1)>' }])
  })
})
