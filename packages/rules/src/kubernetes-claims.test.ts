import { expect, test } from 'vitest'
import { findSharedClaims } from './kubernetes-claims.ts'

const volume = (name: string, type?: 'mem' | 'rwx') => ({ name, path: '/data', ...(type && { type }) })

test('names both containers and volumes that would be one claim', () => {
  const containers = [
    { name: 'a', volumes: [volume('data'), volume('b-c')] },
    { name: 'a-b', volumes: [volume('data'), volume('c', 'rwx')] },
  ]
  expect(findSharedClaims(containers)).toEqual([
    {
      index: 1,
      volumeIndex: 1,
      description:
        'The volume b-c of a and the volume c of a-b would both be the claim a-b-c, and two containers would write to it: rename one of the volumes or containers',
    },
  ])
})

test('allows volumes that are no claims, and the same volume name in several containers', () => {
  expect(
    findSharedClaims([
      { name: 'a', volumes: [volume('b-c', 'mem')] },
      { name: 'a-b', volumes: [volume('c')] },
    ]),
  ).toEqual([])
  expect(
    findSharedClaims([
      { name: 'a', volumes: [volume('c')] },
      { name: 'b', volumes: [volume('c')] },
    ]),
  ).toEqual([])
  expect(findSharedClaims([{ name: 'a' }])).toEqual([])
})
