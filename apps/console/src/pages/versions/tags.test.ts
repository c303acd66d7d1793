import { describe, expect, it } from 'vitest'
import { newerTags, sortTags } from './tags.ts'

const tags = [
  { name: '1.9.0', created: '2026-01-01T00:00:00Z' },
  { name: '1.10.0', created: '2026-02-01T00:00:00Z' },
  { name: 'latest', created: null },
]
const names = (sorted: { name: string }[]) => sorted.map((tag) => tag.name)

describe('the tags of an image', () => {
  it('sorts versions by their numbers', () => {
    expect(names(sortTags(tags, { by: 'name', direction: 'asc' }))).toEqual(['1.9.0', '1.10.0', 'latest'])
  })

  it('puts undated tags last in both directions', () => {
    expect(names(sortTags(tags, { by: 'date', direction: 'desc' }))).toEqual(['1.10.0', '1.9.0', 'latest'])
    expect(names(sortTags(tags, { by: 'date', direction: 'asc' }))).toEqual(['1.9.0', '1.10.0', 'latest'])
  })

  it('marks tags that are newer than the tag in use, and none if that tag has no date', () => {
    expect([...newerTags(tags, '1.9.0')]).toEqual(['1.10.0'])
    expect([...newerTags(tags, 'latest')]).toEqual([])
    expect([...newerTags(tags, null)]).toEqual([])
  })
})
