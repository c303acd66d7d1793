import { expect, it } from 'vitest'
import { csv, csvCell } from './export.ts'

it.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['', ''],
])('a cell is written as RFC 4180 requires: %j', (text, cell) => expect(csvCell(text)).toBe(cell))

it.each(['=1+1', '+49', '-2', '@SUM(A1)', '\t=1', ' =1', '\r=1', '\n@x'])('a cell is never a formula: %j', (text) => {
  const cell = csvCell(text)
  expect(cell.replace(/^"/, '')).toMatch(/^'/)
  expect(cell.replace(/^"|"$/g, '').slice(1)).toBe(text)
})

it('the CSV export has one line per entry, also where names and data are hostile', () => {
  const line = csv.line({
    id: '1',
    createdAt: '2026-01-01T00:00:00.000Z',
    actorType: 'user',
    user: { id: 'u', email: 'a@example.com' },
    name: '=HYPERLINK("http://evil.example")',
    context: 'http',
    method: 'post',
    event: 'project projects.create',
    accepted: true,
    data: { body: { name: '"a",b' } },
  })
  expect(line).toBe(
    '1,2026-01-01T00:00:00.000Z,user,"\'=HYPERLINK(""http://evil.example"")",u,a@example.com,http,post,' +
      'project projects.create,true,"{""body"":{""name"":""\\""a\\"",b""}}"\r\n',
  )
})
