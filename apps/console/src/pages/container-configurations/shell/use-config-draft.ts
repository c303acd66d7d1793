import {
  type ConfigDraft,
  type DraftContext,
  type DraftSession,
  type FieldChange,
  type FieldStep,
  findProblems,
  getField,
  isWithin,
  noHistory,
  recordEdit,
  redo,
  saveState,
  shownFields,
  undo,
} from '@crux/config-editor'
import type { ContainerConfigField, ContainerConfigFields, ErrorDetail, ResponseOf } from '@crux/contract'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { confirm } from '../../../components/confirm.tsx'
import { openDraft } from './open-draft.ts'

/** The draft of a page as it is to be shown, and what the form does to it. */
export function useConfigDraft(
  params: { teamSlug: string; configId: string },
  config: ResponseOf<'container-configurations.get'>,
  context: DraftContext,
) {
  const { t } = useTranslation()
  const [{ session, enter }] = useState(() => openDraft(params, config))
  useEffect(enter, [enter])
  useEffect(() => session.setContext(context), [session, context])
  const { draft, offline } = useSyncExternalStore(session.subscribe, session.get)

  const own = useMemo(() => shownFields(draft), [draft])
  // Typed text is rendered before it is validated, because a thousand rows take a moment.
  const judged = useDeferredValue(draft)
  const problems = useMemo(() => findProblems(judged, context), [judged, context])
  const saving = saveState(draft, problems)
  const state = offline && saving !== 'saved' ? 'offline' : saving
  useBlocker({
    // Valid text is sent when the page closes; only invalid text is lost.
    shouldBlockFn: async ({ current, next }) =>
      current.pathname !== next.pathname &&
      (state === 'held' || state === 'offline') &&
      !(await confirm({
        title: t('form.leaveTitle'),
        text: t('form.leaveText'),
        action: t('form.leave'),
        danger: true,
      })),
    enableBeforeUnload: session.isOpen,
    disabled: state === 'saved',
  })

  return {
    own,
    stored: draft.server,
    revision: draft.revision,
    conflicts: draft.conflicts,
    problems,
    state: offline ? ('offline' as const) : state,
    resolve: session.resolve,
    ...useDraftHistory(session, own),
    ...useDraftErrors(draft, problems),
  }
}

/** The edits of this page, which can be undone. */
function useDraftHistory(session: DraftSession, own: ContainerConfigFields) {
  const [history, setHistory] = useState(noHistory)
  const shown = useRef({ own, history })
  shown.current = { own, history }
  const editAll = useCallback(
    (changes: readonly FieldChange[], seen: ContainerConfigFields = shown.current.own) => {
      const steps = changes.map(({ field, value }): FieldStep => ({ field, before: seen[field], after: value }))
      setHistory((before) => recordEdit(before, steps, Date.now()))
      for (const { field, value } of changes) session.edit(field, value, seen[field])
    },
    [session],
  )
  const step = useCallback(
    (back: typeof undo) => {
      const moved = back(shown.current.history)
      if (!moved) return
      setHistory(moved.history)
      for (const edit of moved.edits) session.edit(edit.field, edit.after ?? null, edit.before ?? undefined)
    },
    [session],
  )
  return {
    history,
    edit: useCallback(
      (field: ContainerConfigField, value: unknown, seen?: ContainerConfigFields) => editAll([{ field, value }], seen),
      [editAll],
    ),
    editAll,
    reset: useCallback(
      (field: ContainerConfigField) => {
        const change = { field, before: shown.current.own[field], after: null }
        setHistory((before) => recordEdit(before, [change], Date.now()))
        session.reset(field)
      },
      [session],
    ),
    undo: useCallback(() => step(undo), [step]),
    redo: useCallback(() => step(redo), [step]),
  }
}

/** Messages by property: those of the server take precedence over those of the page. */
function useDraftErrors(draft: ConfigDraft, problems: readonly ErrorDetail[]) {
  const errors = useMemo(
    () =>
      new Map([
        ...problems.toReversed().map((problem) => [problem.property, problem.description] as const),
        ...Object.entries(draft.refused),
      ]),
    [problems, draft.refused],
  )
  return {
    getError: useCallback((property: string): string | undefined => errors.get(property), [errors]),
    errorsBelow: useCallback(
      (property: string): string[] => [...errors].flatMap(([at, message]) => (isWithin(at, property) ? [message] : [])),
      [errors],
    ),
    firstError:
      Object.entries(draft.refused).map(([property, description]) => ({ property, description }))[0] ??
      problems[0] ??
      null,
    /** The messages of all errors; some may occur at several positions. */
    errorTexts: useMemo(() => new Set(errors.values()), [errors]),
    errorsIn: (field: string): number =>
      [...errors.keys(), ...Object.keys(draft.conflicts)].filter((property) => getField(property) === field).length,
  }
}
