import type { ContainerConfigFields } from '@crux/contract'
import { expect, it } from 'vitest'
import { findFieldTarget } from './field-target.ts'

const fields = {
  environment: [
    { id: 'gone', key: 'GONE', value: null },
    { id: 'level', key: 'LEVEL', value: 'info' },
    { id: 'dotted', key: 'a.b', value: '' },
  ],
  volumes: [{ id: 'data', name: 'data', path: '/data' }],
  labels: { service: [{ id: 'tier', key: 'tier', value: '-' }] },
  initContainers: [
    { id: 'init', name: 'a', image: 'b', useParentConfig: false, environment: [{ id: 'pair', key: 'A', value: 'b' }] },
  ],
  routing: { port: 80 },
} as ContainerConfigFields

it.each([
  ['routing.port', undefined, undefined],
  ['volumes[0].path', 'data', 'path'],
  ['environment[0].value', 'level', 'value'],
  ['environment.LEVEL', 'level', ''],
  ['labels.service[0].value', 'tier', 'value'],
  ['initContainers[0].image', 'init', 'image'],
  ['initContainers[0].environment[0].key', 'pair', 'key'],
  ['volumes[7].path', undefined, undefined],
  ['nothing.like[3].that', undefined, undefined],
])('findFieldTarget finds the row and the part of %s', (property, rowId, part) => {
  expect(findFieldTarget(property, fields, true)).toEqual({ property, ...(rowId && { rowId, part }) })
})

it('findFieldTarget counts removed keys at their position in the list', () => {
  expect(findFieldTarget('environment[1].value', fields, false)).toMatchObject({ rowId: 'level' })
})
