import { basename, posix } from 'node:path'
import { expect, test } from 'vitest'
import { listImports, projectFiles } from './repository.ts'

/** Components that are a part of another one on the page, or a page that others fill. */
const shownWithin = new Set([
  ...['ConfirmDialog', 'Dialog', 'MenuPanel', 'PageHeader', 'QueryView'],
  ...['LogHeader', 'LogLines', 'LogRow', 'LogSearchBar'],
  ...['ColumnPicker', 'Filters', 'ListPage', 'NarrowRows', 'PagedListPage'],
])

test('the component page at /dev/components shows every shared component', () => {
  const shared = projectFiles(/^apps\/console\/src\/(components|table)\/(.*\/)?[A-Z]\w+\.tsx$/).map(({ path }) => path)
  const shown = new Set(
    projectFiles(/^apps\/console\/src\/dev\/.*\.tsx$/).flatMap(({ path, text }) =>
      listImports(text).map(({ specifier }) => posix.join(posix.dirname(path), specifier)),
    ),
  )
  const missing = shared.filter((path) => !shown.has(path) && !shownWithin.has(basename(path, '.tsx')))
  expect(shared.length).toBeGreaterThan(40)
  expect(missing).toEqual([])
})
