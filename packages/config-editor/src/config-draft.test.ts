import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import {
  type ConfigDraft,
  configUpdated,
  editField,
  findProblems,
  linkFound,
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
const make = (fields: ContainerConfigFields = {}, revision = 5) =>
  linkFound(startDraft(fields, revision), fields, revision)
const type = (draft: ConfigDraft, field: ContainerConfigField, value: unknown) =>
  editField(draft, field, value, shownFields(draft)[field])
/** The patch is sent, confirmed, and published to all editors. */
const store = (draft: ConfigDraft, revision: number) =>
  configUpdated(patchReceived(draft, revision), shownFields({ ...draft, pending: {} }), revision)
const send = (draft: ConfigDraft) => nextPatch(draft, { prefix: 'shop' })

describe('a configuration while people type in it', () => {
  it('sends only the rows that were changed, with the revision that they were seen at', () => {
    const draft = send(
      type(make({ environment: env(['A', '1'], ['B', '2']) }), 'environment', env(['A', '1'], ['B', '3'])),
    )
    expect(draft.sent?.patch).toEqual({
      config: { environment: env(['A', '1'], ['B', '3']) },
      keys: { environment: ['B'] },
      revision: 5,
    })
  })

  it('merges text that is typed while a patch is in flight into the next patch', () => {
    let draft = send(type(make(), 'name', 'web'))
    draft = type(type(draft, 'name', 'web2'), 'tty', true)
    expect(send(draft)).toBe(draft)
    draft = send(store(draft, 6))
    expect(draft.sent?.patch).toEqual({ config: { name: 'web2', tty: true }, revision: 6 })
    expect(saveState(store(draft, 7), [])).toBe('saved')
  })

  it('holds back host-dangerous settings that this user may not add, and sends the others', () => {
    const context = { prefix: 'shop', hostDenied: 'Needs the role Admin' }
    const bind = [{ id: id(1), name: '/etc', path: '/etc' }]
    let draft = type(make({ capabilities: [{ id: id(2), key: 'SYS_ADMIN', value: 'add' }] }), 'volumes', bind)
    draft = type(draft, 'name', 'web')
    expect(findProblems(draft, context)).toEqual([
      {
        property: 'volumes[0].name',
        error: 'hostDangerous',
        description: expect.stringMatching(/Needs the role Admin/),
      },
    ])
    expect(nextPatch(draft, context).sent?.patch.config).toEqual({ name: 'web' })
    expect(saveState(type(make(), 'volumes', bind), findProblems(draft, context))).toBe('held')
    expect(send(draft).sent?.patch.config).toMatchObject({ name: 'web', volumes: bind })
  })

  it('keeps an invalid value in the form and sends the rest', () => {
    let draft = type(make(), 'ports', [{ id: id(1), internal: 99_999 }])
    draft = send(type(draft, 'name', 'web'))
    expect(draft.sent?.patch.config).toEqual({ name: 'web' })
    expect(shownFields(draft).ports).toEqual([{ id: id(1), internal: 99_999 }])
    expect(findProblems(draft, { prefix: 'shop' }).map((problem) => problem.property)).toContain('ports[0].internal')
  })

  it('leaves unfinished rows in the form and reports problems at the position where they are typed', () => {
    const rows = [{ id: id(0), key: '', value: '' }, ...env(['A A', 'x'])]
    expect(findProblems(type(make(), 'environment', rows), {}).map((problem) => problem.property)).toContain(
      'environment[1].key',
    )
    const begun = send(
      type(make({ environment: env(['A', '1']) }), 'environment', [
        ...env(['A', '1']),
        { id: id(9), key: '', value: '' },
      ]),
    )
    expect(begun.sent).toBeNull()
    expect(shownFields(begun).environment).toHaveLength(2)
    expect(saveState(begun, [])).toBe('saved')
  })

  it('merges typed rows with changes of another user to other rows', () => {
    const draft = type(
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

  it('reports a conflict when two users changed the same row, and holds back only that field', () => {
    let draft = type(make({ environment: env(['A', '1']), name: 'web' }), 'environment', env(['A', 'mine']))
    draft = type(draft, 'name', 'api')
    draft = configUpdated(draft, { environment: env(['A', 'theirs']), name: 'web' }, 6)
    expect(draft.conflicts['environment.A']).toMatchObject({ mine: { value: 'mine' }, theirs: { value: 'theirs' } })
    const sent = send(draft)
    expect(sent.sent?.patch.config).toEqual({ name: 'api' })
    const mine = send(store(resolveConflict(sent, 'environment.A', 'mine'), 7))
    expect(mine.sent?.patch.config?.environment).toMatchObject([{ value: 'mine' }])
    const theirs = send(store(resolveConflict(sent, 'environment.A', 'theirs'), 7))
    expect(theirs.sent).toBeNull()
    expect(shownFields(theirs).environment).toMatchObject([{ value: 'theirs' }])
  })

  it('reverts the named fields of a rejected patch to typed text, and sends the others again', () => {
    let draft = send(type(type(make(), 'name', 'web'), 'networkMode', 'host'))
    draft = patchRefused(draft, [{ property: 'config.networkMode', description: 'only an admin may' }])
    expect(draft.refused).toEqual({ networkMode: 'only an admin may' })
    draft = send(draft)
    expect(draft.sent?.patch.config).toEqual({ name: 'web' })
    draft = send(type(store(draft, 6), 'networkMode', 'bridge'))
    expect([draft.refused, draft.sent?.patch.config]).toEqual([{}, { networkMode: 'bridge' }])
  })

  it('shows the stored value when the server reports a concurrent change', () => {
    const draft = patchConflict(
      send(type(make({ name: 'web' }), 'name', 'mine')),
      [{ property: 'name', value: 'theirs' }],
      8,
    )
    expect([draft.conflicts.name, draft.sent]).toEqual([{ mine: 'mine', theirs: 'theirs' }, null])
    expect(send(draft).sent).toBeNull()
    expect(shownFields(resolveConflict(draft, 'name', 'theirs')).name).toBe('theirs')
    // The choice may come before the state that it is about; nothing is sent without having seen that.
    const chosen = send(resolveConflict(draft, 'name', 'mine'))
    expect(chosen.sent).toBeNull()
    const known = send(configUpdated(chosen, { name: 'theirs' }, 8))
    expect([known.conflicts, known.sent?.patch]).toEqual([{}, { config: { name: 'mine' }, revision: 8 }])
  })

  it('keeps typed text when the connection is lost before or after the last patch arrived', () => {
    const lost = linkLost(send(type(make({ name: 'web' }), 'name', 'api')))
    expect(shownFields(lost).name).toBe('api')
    const arrived = linkFound(lost, { name: 'api' }, 6)
    expect([send(arrived).sent, saveState(arrived, [])]).toEqual([null, 'saved'])
    const notArrived = linkFound(lost, { name: 'web' }, 5)
    expect(send(notArrived).sent?.patch.config).toEqual({ name: 'api' })
  })

  it('resets a section immediately and discards what was typed in it', () => {
    const typed = type(make({ environment: env(['A', '1']) }), 'environment', env(['A', '2']))
    const draft = send(resetField(typed, 'environment'))
    expect(draft.sent?.patch).toEqual({ resetSection: 'environment', revision: 5 })
    expect([draft.pending, shownFields(draft).environment]).toEqual([{}, null])
  })

  it('ignores an update that is older than its state', () => {
    const draft = store(send(type(make({ name: 'web' }), 'name', 'api')), 7)
    expect(configUpdated(draft, { name: 'web' }, 6)).toBe(draft)
  })

  it('keeps a new row and its typed text when its patch and a change of another user cross', () => {
    const row = (key: string, value: string) => ({ id: id(9), key, value })
    let draft = send(type(make({ environment: env(['A', '1']) }), 'environment', [...env(['A', '1']), row('N', '')]))
    draft = type(draft, 'environment', [...env(['A', '1']), row('N', 'typed')])
    draft = configUpdated(draft, { environment: env(['A', 'theirs']) }, 6)
    const values = (some: ConfigDraft) => shownFields(some).environment?.map(({ key, value }) => `${key}=${value}`)
    expect(values(draft)).toEqual(['A=theirs', 'N=typed'])
    draft = patchReceived(draft, 7)
    expect(send(draft).sent).toBe(draft.sent)
    draft = send(configUpdated(draft, { environment: [...env(['A', 'theirs']), row('N', '')] }, 7))
    expect(draft.sent?.patch).toMatchObject({ keys: { environment: ['N'] }, revision: 7 })
    expect(values(draft)).toEqual(['A=theirs', 'N=typed'])
  })

  it('keeps a new empty row when another user changes another setting', () => {
    const draft = type(make({ args: [{ id: id(1), key: '-v' }] }), 'args', [
      { id: id(1), key: '-v' },
      { id: id(2), key: '' },
    ])
    expect(
      shownFields(configUpdated(send(draft), { args: [{ id: id(1), key: '-v' }], tty: true }, 6)).args,
    ).toHaveLength(2)
  })

  it('keeps changes that arrived between the last rendering and the edit', () => {
    const seen = env(['A', '1'])
    let draft = configUpdated(make({ environment: seen }), { environment: env(['A', '1'], ['B', 'theirs']) }, 6)
    draft = editField(draft, 'environment', env(['A', 'mine']), seen)
    expect(shownFields(draft).environment?.map(({ key }) => key)).toEqual(['A', 'B'])
    draft = editField(draft, 'environment', [...seen, { id: id(8), key: 'B', value: 'mine' }], seen)
    expect(draft.conflicts).toMatchObject({ 'environment.B': { mine: { value: 'mine' }, theirs: { value: 'theirs' } } })
  })
})
