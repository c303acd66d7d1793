import type { ContainerConfigField, ContainerConfigFields, Result } from '@crux/contract'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { confirm } from '../../components/confirm.tsx'
import { findProblems, saveState, shownFields } from './config-draft.ts'
import { fieldOf } from './config-rows.ts'
import { openDraft } from './open-draft.ts'

/** The draft of a page as it is to be shown, and what the form does to it. */
export function useConfigDraft(
  params: { teamSlug: string; configId: string },
  config: Result<'container-configurations.get'>,
  prefix: string | undefined,
) {
  const { t } = useTranslation()
  const [{ session, enter }] = useState(() => openDraft(params, config))
  useEffect(enter, [enter])
  useEffect(() => session.expectPrefix(prefix), [session, prefix])
  const { draft, offline } = useSyncExternalStore(session.subscribe, session.get)

  const own = useMemo(() => shownFields(draft), [draft])
  const problems = useMemo(() => findProblems(draft, prefix), [draft, prefix])
  const saving = saveState(draft, problems)
  const state = offline && saving !== 'saved' ? 'offline' : saving

  useBlocker({
    // What can be sent goes out on the way; only what cannot is lost with the page.
    shouldBlockFn: async () =>
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
    conflicts: draft.conflicts,
    refused: draft.refused,
    problems,
    state: offline ? ('offline' as const) : state,
    edit: useCallback(
      (field: ContainerConfigField, value: unknown, seen: ContainerConfigFields = own) =>
        session.edit(field, value, seen),
      [session, own],
    ),
    reset: session.reset,
    resolve: session.resolve,
    /** The server's or the page's own words for a property. */
    errorOf: (property: string): string | undefined =>
      draft.refused[property] ?? problems.find((problem) => problem.property === property)?.description,
    fieldHasError: (field: string): boolean =>
      [
        ...problems.map((problem) => problem.property),
        ...Object.keys(draft.refused),
        ...Object.keys(draft.conflicts),
      ].some((property) => fieldOf(property) === field),
  }
}
