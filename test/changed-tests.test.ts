import { describe, expect, test } from 'vitest'
import { importersIn, selectTests } from '../scripts/changed-tests.ts'
import { projectFiles } from './repository.ts'

const files = projectFiles(/^(apps|packages|e2e|test|scripts|bench)\/.*\.tsx?$/)
const importers = importersIn(files)
const select = (...changed: string[]) =>
  selectTests(changed, files, importers) ?? { unit: ['everything'], browser: ['everything'] }

describe('the tests that a change touches', () => {
  test('are those that import it, also through the index of a package', () => {
    const { unit } = select('packages/rules/src/slug.ts')
    expect(unit).toContain('packages/rules/src/slug.test.ts')
    expect(unit).not.toContain('apps/agent/test/gate.test.ts')
  })

  test('are all of them for the lockfile and the set-up of the tests', () => {
    for (const path of ['package-lock.json', 'vitest.config.ts', 'e2e/playwright.config.ts'])
      expect(selectTests([path], files, importers)).toBeUndefined()
  })

  test('include the browser specs that use a changed part of their kit', () => {
    expect(select('e2e/kit/totp.ts').browser).toContain('e2e/journeys/account.spec.ts')
    expect(select('e2e/kit/totp.ts').browser).not.toContain('e2e/journeys/nodes.spec.ts')
  })

  test('are those of the repository for a document', () => {
    const { unit, browser } = select('docs/gate.md')
    expect(browser).toEqual([])
    expect(unit.filter((path) => !path.startsWith('test/'))).toEqual([])
    expect(unit).toContain('test/documents.test.ts')
  })

  test.each([
    ['apps/agent/src/gate/gate.ts', 'apps/agent/test/gate.test.ts'],
    ['apps/server/src/teams/store.ts', 'apps/server/test/rights.test.ts'],
    ['apps/identity/src/start.ts', 'apps/identity/src/kratos.test.ts'],
    ['apps/console/src/pages/teams/Members.tsx', 'e2e/journeys/team.spec.ts'],
  ])('of %s include those of the whole process, such as %s', (changed, touched) => {
    const { unit, browser } = select(changed)
    expect([...unit, ...browser]).toContain(touched)
  })
})
