import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { projectFiles } from './repository.ts'

const journals = projectFiles(/^apps\/[^/]+\/migrations\/meta\/_journal\.json$/)
const sqlFiles = projectFiles(/^apps\/[^/]+\/migrations\/[^/]+\.sql$/).map(({ path }) => path)

test('server and identity have migrations', () => {
  expect(journals.map(({ path }) => path.split('/')[1]).sort()).toEqual(['identity', 'server'])
})

describe.each(journals)('the migrations in $path', ({ path, text }) => {
  const directory = posix.dirname(posix.dirname(path))
  const { entries } = JSON.parse(text) as { entries: { idx: number; when: number; tag: string }[] }

  test('are numbered without a gap, and every file has an entry and every entry a file', () => {
    expect(entries.map(({ idx }) => idx)).toEqual(entries.map((_, index) => index))
    expect(entries.map(({ tag }) => Number(tag.slice(0, 4)))).toEqual(entries.map((_, index) => index))
    expect(sqlFiles.filter((file) => file.startsWith(`${directory}/`)).sort()).toEqual(
      entries.map(({ tag }) => `${directory}/${tag}.sql`).sort(),
    )
  })

  test('have increasing timestamps, because the migrator skips any that are older than the newest applied one', () => {
    const times = entries.map(({ when }) => when)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
  })
})
