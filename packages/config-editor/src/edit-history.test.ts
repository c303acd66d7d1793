import { describe, expect, it } from 'vitest'
import { editField, linkFound, shownFields, startDraft } from './config-draft.ts'
import { noHistory, recordEdit, redo, undo } from './edit-history.ts'

const env = (...pairs: [key: string, value: string][]) => pairs.map(([key, value]) => ({ id: `id-${key}`, key, value }))

describe('undoing own edits', () => {
  it('creates one step for continuous typing, and another after a pause or in another field', () => {
    let history = recordEdit(noHistory, [{ field: 'name', before: undefined, after: 'w' }], 1_000)
    history = recordEdit(history, [{ field: 'name', before: 'w', after: 'we' }], 1_200)
    history = recordEdit(history, [{ field: 'name', before: 'we', after: 'web' }], 1_400)
    history = recordEdit(history, [{ field: 'tty', before: undefined, after: true }], 1_500)
    history = recordEdit(history, [{ field: 'name', before: 'web', after: 'api' }], 9_000)
    expect(history.done.map((step) => step.changes[0])).toEqual([
      { field: 'name', before: undefined, after: 'web' },
      { field: 'tty', before: undefined, after: true },
      { field: 'name', before: 'web', after: 'api' },
    ])
  })

  it('does not merge steps around a change of another user', () => {
    let history = recordEdit(noHistory, [{ field: 'environment', before: env(['A', '1']), after: env(['A', '2']) }], 1)
    const theirs = env(['A', '2'], ['B', 'theirs'])
    history = recordEdit(
      history,
      [{ field: 'environment', before: theirs, after: env(['A', '3'], ['B', 'theirs']) }],
      2,
    )
    expect(history.done).toHaveLength(2)
  })

  it('reverts only the own rows, and a redo restores them', () => {
    const server = { environment: env(['A', '1'], ['B', '1']) }
    let draft = linkFound(startDraft(server, 1), server, 1)
    const change = { field: 'environment' as const, before: server.environment, after: env(['A', 'mine'], ['B', '1']) }
    const history = recordEdit(noHistory, [change], 1)
    draft = linkFound(draft, { environment: env(['A', 'mine'], ['B', 'theirs']) }, 3)
    const back = undo(history)
    for (const edit of back?.edits ?? []) draft = editField(draft, edit.field, edit.after, edit.before ?? undefined)
    expect(shownFields(draft).environment).toEqual(env(['A', '1'], ['B', 'theirs']))
    expect(draft.conflicts).toEqual({})
    const again = back && redo(back.history)
    for (const edit of again?.edits ?? []) draft = editField(draft, edit.field, edit.after, edit.before ?? undefined)
    expect(shownFields(draft).environment).toEqual(env(['A', 'mine'], ['B', 'theirs']))
    expect(again?.history.done).toHaveLength(1)
    expect(again?.history.undone).toHaveLength(0)
  })

  it('discards undone steps when something else is typed', () => {
    const one = recordEdit(noHistory, [{ field: 'name', before: null, after: 'a' }], 1)
    const back = undo(one)?.history ?? noHistory
    expect(redo(recordEdit(back, [{ field: 'tty', before: null, after: true }], 2))).toBeNull()
    expect(undo(noHistory)).toBeNull()
  })
})
