import { describe, expect, it } from 'vitest'
import { blocksInView, mergeDetails } from './tags-in-view.ts'

const complete = { digest: 'sha256:1', platforms: ['linux/amd64'] }
const tags = Array.from({ length: 10_000 }, (_, index) => ({ name: `v${index}` }))
const names = (first: number, last: number) => tags.slice(first, last + 1).map(({ name }) => name)

describe('the details of tags that are requested', () => {
  it('are those of the tags in view, in the same blocks at each position of the list', () => {
    expect(blocksInView(tags, { startIndex: 0, endIndex: 9 })).toEqual([names(0, 9)])
    expect(blocksInView(tags, { startIndex: 5_003, endIndex: 5_013 })).toEqual([
      names(5_000, 5_009),
      names(5_010, 5_019),
    ])
    expect(blocksInView(tags, { startIndex: 5_009, endIndex: 5_012 })).toEqual([
      names(5_000, 5_009),
      names(5_010, 5_019),
    ])
  })

  it('are none of tags that the list describes completely, and none before the list has a size', () => {
    const described = tags.slice(0, 20).map((tag, index) => (index === 3 ? tag : { ...tag, ...complete }))
    expect(blocksInView(described, { startIndex: 0, endIndex: 19 })).toEqual([['v3']])
    expect(blocksInView(tags, null)).toEqual([])
  })

  it('complete the list, whose own values are kept', () => {
    const details = { name: 'v1', created: '2026-01-01T00:00:00Z', size: 4711, ...complete }
    expect(mergeDetails({ name: 'v1', created: null }, details)).toEqual(details)
    expect(mergeDetails({ name: 'v1', created: '2026-02-02T00:00:00Z' }, details)).toMatchObject({
      created: '2026-02-02T00:00:00Z',
      size: 4711,
    })
    expect(mergeDetails({ name: 'v1', created: null }, undefined)).toMatchObject({ name: 'v1' })
  })
})
