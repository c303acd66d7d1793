import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { documentExists } from './references.ts'
import { projectFiles, root } from './repository.ts'

const documents = projectFiles(/\.md$/)
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

test('every link between documents leads to an existing file, and to an existing heading', () => {
  const broken = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/!?\[[^\]]*\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !/^[a-z]+:/.test(link) && !documentExists(path, link))
      .map((link) => `${path} -> ${link}`),
  )
  expect(broken).toEqual([])
})

test('every npm command in a document is a script of package.json', () => {
  const unknown = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)]
      .map((match) => match[1] ?? match[2] ?? '')
      .filter((name) => !(name in packageJson.scripts))
      .map((name) => `${path}: npm run ${name}`),
  )
  expect(unknown).toEqual([])
})

test('every script of package.json that runs a file refers to an existing one', () => {
  const missing = Object.entries(packageJson.scripts).filter(([, command]) => {
    const file = /\bnode (\S+)/.exec(command)?.[1]
    return file !== undefined && !existsSync(join(root, file))
  })
  expect(missing).toEqual([])
})

test('the README contains the two commands, and AGENTS.md stays short', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toMatch(/npm start[\s\S]*npm test/)
  expect(readFileSync(join(root, 'AGENTS.md'), 'utf8').split('\n').length).toBeLessThan(120)
})

test('docs/openapi.json matches the contract', () => {
  const file = join(root, 'docs/openapi.json')
  const before = readFileSync(file, 'utf8')
  try {
    execFileSync(process.execPath, [join(root, 'packages/contract/scripts/write-openapi.ts')], {
      cwd: root,
      stdio: 'pipe',
    })
    expect(readFileSync(file, 'utf8') === before, 'run `npm run openapi` and commit docs/openapi.json').toBe(true)
  } finally {
    writeFileSync(file, before)
  }
})

test('the tables of docs/rights.md match the policy and the contract', () => {
  const check = [join(root, 'packages/contract/scripts/write-rights.ts'), '--check']
  expect(() => execFileSync(process.execPath, check, { cwd: root, stdio: 'pipe' })).not.toThrow()
})

test.each([
  ['apps/server/src/config/config.ts', 'docs/settings.md'],
  ['apps/agent/src/settings.ts', 'docs/settings.md'],
  ['apps/identity/src/config/config.ts', 'docs/identity.md'],
  ['apps/identity/src/config/captcha.ts', 'docs/identity.md'],
])('every setting of %s is in a table of %s', (source, page) => {
  const named = [...readFileSync(join(root, source), 'utf8').matchAll(/^ {2,4}([A-Z][A-Z_]+): /gm)].map(
    ([, name]) => name,
  )
  const rows = readFileSync(join(root, page), 'utf8').split('\n')
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((name) => !rows.some((row) => row.startsWith('| ') && row.includes(`\`${name}\``)))).toEqual([])
})
