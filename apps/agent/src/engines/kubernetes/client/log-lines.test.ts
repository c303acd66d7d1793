import { expect, test } from 'vitest'
import { LogLines } from './log-lines.ts'

const parse = (...chunks: string[]) => {
  const lines = new LogLines()
  return [...chunks.flatMap((chunk) => lines.push(Buffer.from(chunk))), ...lines.end()]
}

test('a log is split into lines with their times, wherever it is cut', () => {
  const text =
    '2026-11-27T20:14:41.484067766Z one\n2026-11-27T20:14:41.5Z zwei ü\r\n2026-11-27T20:14:42Z \n2026-11-27T20:14:43Z end'
  const expected = [
    { seconds: 1_795_810_481n, nanos: 484_067_766, stderr: false, text: 'one' },
    { seconds: 1_795_810_481n, nanos: 500_000_000, stderr: false, text: 'zwei ü' },
    { seconds: 1_795_810_482n, nanos: 0, stderr: false, text: '' },
    { seconds: 1_795_810_483n, nanos: 0, stderr: false, text: 'end' },
  ]
  expect(parse(text)).toEqual(expected)
  for (let at = 1; at < text.length; at += 7) expect(parse(text.slice(0, at), text.slice(at))).toEqual(expected)
})

test('a node that writes times with its offset from UTC means the same moment', () => {
  const [utc, local] = parse('2026-11-27T20:14:41.25Z a\n', '2026-11-27T22:14:41.25+02:00 a\n')
  expect(local).toEqual(utc)
})

test('times of one second are read alike, with and without a fraction, and what is no time stays text', () => {
  const at = '2026-11-27T20:14:41'
  const found = parse(`${at}.5Z a\n${at}.000000007Z b\n${at}Z c\n${at}.25+00:00 d\n${at}.x5Z e\n${at}.1234567890Z f\n`)
  expect(found.map(({ nanos, text }) => [nanos, text])).toEqual([
    [500_000_000, 'a'],
    [7, 'b'],
    [0, 'c'],
    [250_000_000, 'd'],
    [250_000_000, `${at}.x5Z e`],
    [250_000_000, `${at}.1234567890Z f`],
  ])
})

test('a long line is delivered in pieces, the same ones wherever it is cut, and each is later than the one before', () => {
  const text = `2026-11-27T20:14:41.999999999Z ${'x'.repeat(65_504)}😀${'2026-11-27T20:14:42Z y\r'.repeat(5_000)}\r\n`
  const next = '2026-11-27T20:14:43.5Z next\n'
  const whole = parse(text + next)
  expect(whole.map(({ text: piece }) => piece).join('\n')).not.toContain('\ufffd')
  expect(
    whole
      .slice(0, -1)
      .map(({ text: piece }) => piece)
      .join(''),
  ).toBe(text.slice('2026-11-27T20:14:41.999999999Z '.length, -2))
  expect(whole.map(({ nanos, seconds }) => [seconds, nanos])).toEqual([
    [1_795_810_481n, 999_999_999],
    [1_795_810_482n, 0],
    [1_795_810_482n, 1],
    [1_795_810_483n, 500_000_000],
  ])
  const bytes = Buffer.from(text + next)
  for (let at = 1; at < bytes.length; at += 9_973) {
    const lines = new LogLines()
    expect([...lines.push(bytes.subarray(0, at)), ...lines.push(bytes.subarray(at)), ...lines.end()]).toEqual(whole)
  }
})

test('a line that does not end is delivered as it comes, and what is kept of it is limited', () => {
  const lines = new LogLines()
  const [first, ...others] = lines.push(Buffer.from(`2026-11-27T20:14:41Z ${'x'.repeat(70_000)}`))
  expect(others).toEqual([])
  expect(first?.text).toMatch(/^x{65515}$/)
  expect(lines.push(Buffer.from('rest\n'))).toMatchObject([{ nanos: 1, text: `${'x'.repeat(70_000 - 65_515)}rest` }])
})

test('a line that fills its pieces exactly has no empty piece, wherever it is cut', () => {
  const text = `2026-11-27T20:14:41Z ${'x'.repeat(2 * 65_536 - 21)}`
  for (const at of [65_536, text.length, text.length + 1]) {
    const line = `${text}\r\n`
    expect(parse(line.slice(0, at), line.slice(at)).map((piece) => piece.text.length)).toEqual([65_515, 65_536])
  }
})
