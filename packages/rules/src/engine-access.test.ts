import { describe, expect, test } from 'vitest'
import { type EngineScope, isCovered, visibilityFor } from './engine-access.ts'

const scope: EngineScope = { teamId: 'team', nodeId: 'node', deletedNodeIds: ['deleted-1', 'deleted-2'] }
const labels = (team: string, node: string) => ({ 'dev.crux.team': team, 'dev.crux.node': node })

describe('isCovered', () => {
  test('includes a container of the team on this node', () => {
    expect(isCovered(labels('team', 'node'), scope)).toBe(true)
  })

  test('includes a container that a deleted node of the team left behind', () => {
    expect(isCovered(labels('team', 'deleted-2'), scope)).toBe(true)
  })

  test('excludes containers of another team, including one that names this node or a deleted node of this team', () => {
    for (const node of ['node', 'deleted-1', 'elsewhere']) expect(isCovered(labels('other', node), scope)).toBe(false)
  })

  test('excludes another live node of the same team', () => {
    expect(isCovered(labels('team', 'second-node'), scope)).toBe(false)
  })

  test('excludes containers without owner labels, with one of the two, and parts of the platform', () => {
    expect(isCovered({}, scope)).toBe(false)
    expect(isCovered({ 'dev.crux.team': 'team' }, scope)).toBe(false)
    expect(isCovered({ 'dev.crux.node': 'node' }, scope)).toBe(false)
    expect(isCovered({ 'dev.crux.service-category': '_internal' }, scope)).toBe(false)
  })

  test('does not match empty ids with empty labels', () => {
    expect(isCovered(labels('', ''), { teamId: '', nodeId: '', deletedNodeIds: [''] })).toBe(false)
    expect(isCovered({}, { teamId: '', nodeId: '', deletedNodeIds: [] })).toBe(false)
  })
})

test('visibilityFor shows members all objects of their team; of other objects, admins and owners see the outline and users see nothing', () => {
  expect(
    (['user', 'admin', 'owner'] as const).map((role) => [
      visibilityFor(role, { owned: true }),
      visibilityFor(role, { owned: false }),
    ]),
  ).toEqual([
    ['full', 'hidden'],
    ['full', 'outline'],
    ['full', 'outline'],
  ])
})
