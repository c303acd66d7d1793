import type { ContainerConfigFields } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import {
  type ConfigDraft,
  configUpdated,
  editField,
  findProblems,
  linkLost,
  nextPatch,
  patchConflict,
  patchReceived,
  patchRefused,
  resetField,
  resolveConflict,
  saveState,
  shownFields,
  startDraft,
} from './config-draft.ts'

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const env = (...pairs: [key: string, value: string | null][]) =>
  pairs.map(([key, value], index) => ({ id: id(index), key, value }))
const make = (fields: ContainerConfigFields = {}, revision = 5) => startDraft(fields, revision)
const send = (draft: ConfigDraft) => nextPatch(draft, 'shop')

describe('a configuration while people type in it', () => {
  it('sends only the rows that were changed, with the revision that they were seen at', () => {
    const draft = send(
      editField(make({ environment: env(['A', '1'], ['B', '2']) }), 'environment', env(['A', '1'], ['B', '3'])),
    )
    expect(draft.sent?.patch).toEqual({
      config: { environment: env(['A', '1'], ['B', '3']) },
      keys: { environment: ['B'] },
      revision: 5,
    })
  })

  it('merges what is typed while a patch is on its way into the next one', () => {
    let draft = send(editField(make(), 'name', 'web'))
    draft = editField(editField(draft, 'name', 'web2'), 'tty', true)
    expect(send(draft)).toBe(draft)
    draft = send(patchReceived(draft, 6))
    expect(draft.sent?.patch).toEqual({ config: { name: 'web2', tty: true }, revision: 6 })
    expect(saveState(patchReceived(draft, 7), [])).toBe('saved')
  })

  it('keeps an invalid value in the form and sends the rest', () => {
    let draft = editField(make(), 'ports', [{ id: id(1), internal: 99_999 }])
    draft = send(editField(draft, 'name', 'web'))
    expect(draft.sent?.patch.config).toEqual({ name: 'web' })
    expect(shownFields(draft).ports).toEqual([{ id: id(1), internal: 99_999 }])
    expect(findProblems(draft, 'shop').map((problem) => problem.property)).toContain('ports[0].internal')
  })

  it('leaves begun rows in the form and finds problems at the place where they are typed', () => {
    const rows = [{ id: id(0), key: '', value: '' }, ...env(['A A', 'x'])]
    expect(
      findProblems(editField(make(), 'environment', rows), undefined).map((problem) => problem.property),
    ).toContain('environment[1].key')
    const begun = send(
      editField(make({ environment: env(['A', '1']) }), 'environment', [
        ...env(['A', '1']),
        { id: id(9), key: '', value: '' },
      ]),
    )
    expect(begun.sent).toBeNull()
    expect(shownFields(begun).environment).toHaveLength(2)
    expect(saveState(begun, [])).toBe('saved')
  })

  it('puts typed rows on top of what another person changed in other rows', () => {
    const draft = editField(
      make({ environment: env(['A', '1'], ['B', '2']) }),
      'environment',
      env(['A', 'mine'], ['B', '2']),
    )
    const after = configUpdated(
      draft,
      { environment: [...env(['A', '1'], ['B', 'theirs']), { id: id(7), key: 'C', value: 'new' }] },
      6,
    )
    expect((shownFields(after).environment ?? []).map(({ key, value }) => `${key}=${value}`)).toEqual([
      'A=mine',
      'B=theirs',
      'C=new',
    ])
    expect(after.conflicts).toEqual({})
    expect(send(after).sent?.patch).toMatchObject({ keys: { environment: ['A'] }, revision: 6 })
  })

  it('asks when two people changed the same row, and holds only that field', () => {
    let draft = editField(make({ environment: env(['A', '1']), name: 'web' }), 'environment', env(['A', 'mine']))
    draft = editField(draft, 'name', 'api')
    draft = configUpdated(draft, { environment: env(['A', 'theirs']), name: 'web' }, 6)
    expect(draft.conflicts['environment.A']).toMatchObject({ mine: { value: 'mine' }, theirs: { value: 'theirs' } })
    const sent = send(draft)
    expect(sent.sent?.patch.config).toEqual({ name: 'api' })
    const mine = send(patchReceived(resolveConflict(sent, 'environment.A', 'mine'), 7))
    expect(mine.sent?.patch.config?.environment).toMatchObject([{ value: 'mine' }])
    const theirs = send(patchReceived(resolveConflict(sent, 'environment.A', 'theirs'), 7))
    expect(theirs.sent).toBeNull()
    expect(shownFields(theirs).environment).toMatchObject([{ value: 'theirs' }])
  })

  it('takes a refused patch back for the fields that are named, and sends the others again', () => {
    let draft = send(editField(editField(make(), 'name', 'web'), 'networkMode', 'host'))
    draft = patchRefused(draft, [{ property: 'config.networkMode', description: 'only an admin may' }])
    expect(draft.refused).toEqual({ networkMode: 'only an admin may' })
    draft = send(draft)
    expect(draft.sent?.patch.config).toEqual({ name: 'web' })
    draft = send(editField(patchReceived(draft, 6), 'networkMode', 'bridge'))
    expect([draft.refused, draft.sent?.patch.config]).toEqual([{}, { networkMode: 'bridge' }])
  })

  it('shows what the server has where it says that a value was changed meanwhile', () => {
    const draft = patchConflict(
      send(editField(make({ name: 'web' }), 'name', 'mine')),
      [{ property: 'name', value: 'theirs' }],
      8,
    )
    expect([draft.conflicts.name, draft.revision, draft.sent]).toEqual([{ mine: 'mine', theirs: 'theirs' }, 8, null])
    expect(send(draft).sent).toBeNull()
    expect(send(resolveConflict(draft, 'name', 'mine')).sent?.patch).toEqual({ config: { name: 'mine' }, revision: 8 })
    expect(shownFields(resolveConflict(draft, 'name', 'theirs')).name).toBe('theirs')
  })

  it('keeps typed text over a lost link, whether the last patch had arrived or not', () => {
    const lost = linkLost(send(editField(make({ name: 'web' }), 'name', 'api')))
    expect(shownFields(lost).name).toBe('api')
    const arrived = configUpdated(lost, { name: 'api' }, 6)
    expect([send(arrived).sent, saveState(arrived, [])]).toEqual([null, 'saved'])
    const notArrived = configUpdated(lost, { name: 'web' }, 5)
    expect(send(notArrived).sent?.patch.config).toEqual({ name: 'api' })
  })

  it('resets a section at once and forgets what was typed in it', () => {
    const draft = resetField(
      editField(make({ environment: env(['A', '1']) }), 'environment', env(['A', '2'])),
      'environment',
    )
    expect(draft.sent?.patch).toEqual({ resetSection: 'environment', revision: 5 })
    expect(shownFields(patchReceived(draft, 6)).environment).toBeUndefined()
  })

  it('ignores an update that is older than what it knows', () => {
    const draft = patchReceived(send(editField(make({ name: 'web' }), 'name', 'api')), 7)
    expect(configUpdated(draft, { name: 'web' }, 6)).toBe(draft)
  })
})
