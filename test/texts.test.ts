import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { projectFiles } from './repository.ts'

// Finds unused texts, which would be maintained and loaded for nothing. The types find keys without a text.

type Texts = { [key: string]: string | Texts }

const texts = projectFiles(/^apps\/console\/src\/locales\/en\/.*\.json$/).map(({ path, text }) => ({
  area: basename(path, '.json'),
  keys: getKeys(JSON.parse(text)).map((key) => key.replace(/(_ordinal)?_(zero|one|two|few|many|other)$/, '')),
}))
const sources = projectFiles(/^apps\/console\/src\/.*\.tsx?$/).filter(({ path }) => !/\.test\.tsx?$/.test(path))
/** Interpolated parts contain no dot, unless they occur as a literal (`limits.cpu`). */
const literals = new Set(sources.flatMap(({ text }) => listLiterals(text)))

test('every text of the console is used', () => {
  const shown = sources.map(({ text }) => ({
    // The key is in an area that the file names, or in the common one.
    areas: ['common', ...texts.map(({ area }) => area).filter((area) => new RegExp(`['"\`]${area}['"\`:]`).test(text))],
    literals: new Set(listLiterals(text)),
    composed: findComposed(text),
  }))
  const unused = texts.flatMap(({ area, keys }) => {
    const places = shown.filter(({ areas }) => areas.includes(area))
    const isShown = (key: string) =>
      places.some((place) => place.literals.has(key) || place.composed.some((pattern) => fits(pattern, key)))
    return keys
      .map((key) => [key, `${area}:${key}`])
      .flatMap(([key = '', full = '']) => (isShown(key) || isShown(full) ? [] : [full]))
  })
  expect(shown.flatMap(({ composed }) => composed).length).toBeGreaterThan(50)
  expect(unused).toEqual([])
})

function listLiterals(source: string): string[] {
  return [...source.matchAll(/['"`]([\w:.-]+)['"`]/g)].map((match) => match[1] ?? '')
}

/** Keys with a part that is known only at run time, such as the one after `list.`. */
function findComposed(source: string): RegExp[] {
  return [...source.matchAll(/`((?:[\w:.-]|\$\{[^{}`]*\})+)`/g)]
    .map((match) => match[1] ?? '')
    .filter((key) => key.includes('${') && /[a-z]{3}/i.test(key.replace(/\$\{[^}]*\}/g, ' ')))
    .map((key) => new RegExp(`^${key.replaceAll('.', '\\.').replace(/\$\{[^}]*\}/g, '([^:\\s]+)')}$`))
}

function fits(pattern: RegExp, key: string): boolean {
  const [whole, ...parts] = pattern.exec(key) ?? []
  return whole !== undefined && parts.every((part) => !part.includes('.') || literals.has(part))
}

function getKeys(some: Texts): string[] {
  return Object.entries(some).flatMap(([key, value]) =>
    typeof value === 'string' ? [key] : getKeys(value).map((below) => `${key}.${below}`),
  )
}
