import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TemplateFile } from '@crux/contract'
import { findTemplateProblems } from '@crux/rules'
import { arbitraryJson } from '@crux/test-kit'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { templatesDirectory } from '../places.ts'
import { type ParsedTemplate, parseTemplate, readTemplates } from './read-templates.ts'

const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_123)
const numRuns = process.env.CRUX_TEST_FULL ? 5_000 : 400
const read = (name: string) => readFileSync(join(templatesDirectory, `${name}.json`), 'utf8')
const names = readdirSync(templatesDirectory).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []))
type Entry = { template?: string; problems?: { property: string }[]; err?: unknown }

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})
function readFiles(files: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'crux-templates-'))
  directories.push(directory)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const errors: Entry[] = []
  const templates = readTemplates(directory, { error: (entry: Entry) => void errors.push(entry) })
  return { ids: [...templates.keys()], errors }
}

describe('the files of templates', () => {
  it.each(names)('%s has no problems', (name) => {
    expect(parseTemplate(read(name))).toMatchObject({ ok: true })
  })

  it('the example of the documentation has no problems', () => {
    const page = readFileSync(join(templatesDirectory, '../../../docs/templates.md'), 'utf8')
    const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    expect(parseTemplate(example)).toMatchObject({ ok: true, file: { images: [{}, {}] } })
  })

  it('leaves out a template with a problem, names the property in the log, and keeps the others', () => {
    const picture = readFileSync(join(templatesDirectory, 'gitea.svg'), 'utf8')
    const { ids, errors } = readFiles({
      'good.json': read('gitea'),
      'good.svg': picture,
      'broken.json': '{ "name": ',
      'broken.svg': picture,
      'dangerous.json': read('gitea').replace('"restartPolicy"', '"networkMode": "host", "restartPolicy"'),
      'dangerous.svg': picture,
      'misspelled.json': read('gitea').replace('"restartPolicy"', '"restartPolice"'),
      'misspelled.svg': picture,
      'no-picture.json': read('gitea'),
      'No Slug.json': read('gitea'),
      'No Slug.svg': picture,
      'notes.txt': 'not a template',
    })
    expect(ids).toEqual(['good'])
    expect(errors.map(({ template, problems }) => [template, problems?.[0]?.property])).toEqual([
      ['No Slug', undefined],
      ['broken', ''],
      ['dangerous', 'images[0].config.networkMode'],
      ['misspelled', 'images[0].config.restartPolice'],
      ['no-picture', undefined],
    ])
  })

  it('are parsed without an exception whatever they contain, and accepted only without problems', () => {
    const schema = z.toJSONSchema(TemplateFile, { io: 'input', unrepresentable: 'any' })
    fc.assert(
      fc.property(fc.oneof(fc.string(), arbitraryJson(schema)), (text) => expectNoHiddenProblems(parseTemplate(text))),
      { numRuns, seed },
    )
  })

  it('are accepted only without problems when any of their values is replaced', () => {
    const places = (value: unknown, path: PropertyKey[] = []): PropertyKey[][] =>
      typeof value === 'object' && value !== null
        ? [path, ...Object.entries(value).flatMap(([key, inner]) => places(inner, [...path, key]))]
        : [path]
    const original: unknown = JSON.parse(read('wordpress'))
    const all = places(original)
    const hostile = fc.constantFrom<unknown>(
      null,
      '',
      ' ',
      '-v',
      '../..',
      '/etc',
      'a'.repeat(5_000),
      -1,
      1e9,
      [],
      {},
      true,
      '__proto__',
      '$(id)',
    )
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.oneof(hostile, fc.jsonValue()), (path, value) => {
        expectNoHiddenProblems(parseTemplate(JSON.stringify(withValue(original, path, value)) ?? ''))
      }),
      { numRuns, seed },
    )
  })
})

function expectNoHiddenProblems(parsed: ParsedTemplate): void {
  if (!parsed.ok) {
    expect(parsed.problems.length).toBeGreaterThan(0)
    return
  }
  expect(TemplateFile.safeParse(parsed.file).success).toBe(true)
  expect(findTemplateProblems(parsed.file)).toEqual([])
}

function withValue(json: unknown, [first, ...rest]: readonly PropertyKey[], value: unknown): unknown {
  if (first === undefined) return value
  if (Array.isArray(json))
    return json.map((inner, index) => (index === Number(first) ? withValue(inner, rest, value) : inner))
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([key, inner]) => [key, key === first ? withValue(inner, rest, value) : inner]),
  )
}
