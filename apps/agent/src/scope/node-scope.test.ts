import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../test/kit/wait-until.ts'
import { label } from '../engines/labels.ts'
import { openFileRecords } from '../state/file-state.ts'
import { openNodeScope } from './node-scope.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-node-scope-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const log = createLogger({ name: 'test', level: 'silent' })
const of = (team: string, node: string) => ({ [label.team]: team, [label.node]: node })

test('deleted nodes are covered for their team alone when the server has named them, also after a restart', async () => {
  const records = openFileRecords(directory)
  let changes = 0
  const onChange = () => {
    changes += 1
  }
  const open = () => openNodeScope({ records, nodeId: () => 'node', onChange, log })
  const scope = await open()
  expect([of('team', 'node'), of('team', 'old')].map(scope.covers)).toEqual([true, false])
  scope.learn({ teamId: 'team', nodeId: 'another', deletedNodeIds: ['old'] })
  expect(scope.covers(of('team', 'old'))).toBe(false)
  scope.learn({ teamId: 'team', nodeId: 'node', deletedNodeIds: ['old', 'older'] })
  scope.learn({ teamId: 'team', nodeId: 'node', deletedNodeIds: ['older', 'old'] })
  expect(changes).toBe(1)
  expect([of('team', 'old'), of('stranger', 'old'), of('team', 'live'), {}].map(scope.covers)).toEqual([
    true,
    false,
    false,
    false,
  ])
  await waitUntil('it is remembered', () => records.read('deleted-nodes.json'))
  expect((await open()).covers(of('team', 'older'))).toBe(true)
})

test('an unreadable record of deleted nodes counts as empty', async () => {
  const records = openFileRecords(directory)
  await records.write('deleted-nodes.json', '{"teamId":')
  const scope = await openNodeScope({ records, nodeId: () => 'node', onChange: () => undefined, log })
  expect(scope.covers(of('team', 'old'))).toBe(false)
})
