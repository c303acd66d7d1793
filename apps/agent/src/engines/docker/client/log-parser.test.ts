import { describe, expect, test } from 'vitest'
import { LogParser } from './log-parser.ts'

const frame = (text: string, stream = 1) => {
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}
const at = (nanos = '123456789') => `2026-11-21T13:33:35.${nanos}Z`
const seconds = 1_795_268_015n

describe('LogParser', () => {
  test('reads time, stream and text of each frame', () => {
    const lines = new LogParser({ framed: true }).push(
      Buffer.concat([frame(`${at()} out\n`), frame(`${at('5')} \n`, 2)]),
    )
    expect(lines).toEqual([
      { seconds, nanos: 123_456_789, stderr: false, text: 'out' },
      { seconds, nanos: 500_000_000, stderr: true, text: '' },
    ])
  })

  test('gives the same result wherever the chunks are cut', () => {
    const whole = Buffer.concat([frame(`${at()} größer\n`), frame(`${at()} two\n`), frame(`${at()} three\n`)])
    for (let cut = 1; cut < whole.length; cut += 1) {
      const parser = new LogParser({ framed: true })
      const lines = [...parser.push(whole.subarray(0, cut)), ...parser.push(whole.subarray(cut)), ...parser.end()]
      expect(lines.map(({ text }) => text)).toEqual(['größer', 'two', 'three'])
    }
  })

  test('joins the pieces of a long line and limits the length of a line without an end', () => {
    const parser = new LogParser({ framed: true })
    expect(parser.push(frame(`${at()} ${'a'.repeat(100)}`))).toEqual([])
    expect(parser.push(frame(`${at()} end\n`))[0]?.text).toBe(`${'a'.repeat(100)}end`)
    const pieces = Array.from({ length: 20 }, () => frame(`${at()} ${'b'.repeat(16_000)}`)).flatMap((piece) =>
      parser.push(piece),
    )
    expect(pieces.length).toBeGreaterThan(2)
    expect(Math.max(...pieces.map(({ text }) => text.length))).toBeLessThan(100_000)
  })

  test('reads the plain text of a terminal including a last line without an end', () => {
    const parser = new LogParser({ framed: false })
    expect(parser.push(Buffer.from(`${at()} one\r\n${at()} tw`)).map(({ text }) => text)).toEqual(['one'])
    expect(parser.push(Buffer.from('o'))).toEqual([])
    expect(parser.end().map(({ text }) => text)).toEqual(['two'])
  })

  test("gives every piece of a terminal's long line its time so that a reader can continue after it", () => {
    const parser = new LogParser({ framed: false })
    const [first] = parser.push(Buffer.from(`${at()} one\r\n`))
    const pieces = [
      ...parser.push(Buffer.from(`${at()} ${'c'.repeat(70_000)}`)),
      ...parser.push(Buffer.from('d'.repeat(70_000))),
      ...parser.end(),
    ]
    expect(pieces.length).toBeGreaterThan(1)
    expect(first?.seconds).toBeGreaterThan(0n)
    for (const { seconds, nanos } of pieces)
      expect({ seconds, nanos }).toMatchObject({ seconds: first?.seconds, nanos: first?.nanos })
  })
})
