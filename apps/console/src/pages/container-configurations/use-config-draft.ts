import type { ContainerConfig, ContainerConfigField, ContainerConfigFields, Result } from '@crux/contract'
import { containerConfigFieldNames } from '@crux/contract'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { client, queryClient, queryKey } from '../../api/client.ts'
import { live, useChannel } from '../../api/live.ts'
import {
  type ConfigDraft,
  configUpdated,
  editField,
  fieldOf,
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

/** Patches wait for a pause in typing (ui.md U1). */
const debounceMs = 500

type Params = { teamSlug: string; configId: string }

/** The draft of a page and its channel: edits go out by themselves, changes of others come in. */
export function useConfigDraft(
  params: Params,
  config: Result<'container-configurations.get'>,
  prefix: string | undefined,
) {
  const [draft, setDraft] = useState<ConfigDraft>(() => startDraft(fieldsOf(config), config.revision))
  const [online, setOnline] = useState(() => live.status === 'open')
  const path = `/${params.teamSlug}/container-configurations/${params.configId}`
  const latest = useRef(draft)
  latest.current = draft
  /** Set once the state after a (re)connect is known; nothing is sent before. */
  const [ready, setReady] = useState(false)

  const send = useChannel('container-configuration', params, {
    ready: () => {
      // What happened while the link was away is read before anything is sent again.
      void client.call('container-configurations.get', { params }).then(
        (fresh) => {
          setDraft((before) => configUpdated(linkLost(before), fieldsOf(fresh), fresh.revision))
          queryClient.setQueryData(queryKey('container-configurations.get', { params }), fresh)
          setReady(true)
        },
        () => setReady(true),
      )
    },
    'patch-received': (message) => setDraft((before) => patchReceived(before, message?.revision)),
    'patch-conflict': ({ conflicts, revision }) => setDraft((before) => patchConflict(before, conflicts, revision)),
    'config-updated': (updated) => setDraft((before) => configUpdated(before, fieldsOf(updated), updated.revision)),
  })

  useEffect(() => {
    const stopErrors = live.onError((failure) => {
      if (failure.path !== path || !latest.current.sent) return
      const description = failure.description ?? failure.message
      setDraft((before) => patchRefused(before, failure.details ?? [{ property: failure.property, description }]))
    })
    const stopStatus = live.onStatus((status) => {
      setOnline(status === 'open')
      if (status === 'open') return
      setReady(false)
      setDraft(linkLost)
    })
    return () => {
      stopErrors()
      stopStatus()
    }
  }, [path])

  const flush = useCallback(() => {
    setDraft((before) => nextPatch(before, prefix))
  }, [prefix])

  useEffect(() => {
    if (!ready || draft.sent) return
    const timer = setTimeout(flush, debounceMs)
    return () => clearTimeout(timer)
  }, [draft.pending, draft.conflicts, draft.refused, draft.sent, ready, flush])

  const sent = draft.sent?.patch
  const sendNow = useRef(send)
  sendNow.current = send
  useEffect(() => {
    if (sent) sendNow.current('patch-config', sent)
  }, [sent])

  useEffect(() => {
    // Closing the tab with something typed and not stored asks; moving on inside the console sends it on the way out.
    const guard = (event: BeforeUnloadEvent) => {
      if (saveState(latest.current, []) !== 'saved') event.preventDefault()
    }
    addEventListener('beforeunload', guard)
    return () => removeEventListener('beforeunload', guard)
  }, [])
  useEffect(
    () => () => {
      const last = nextPatch(latest.current, prefix)
      if (last.sent && last.sent !== latest.current.sent)
        void client.call('container-configurations.update', { params, body: last.sent.patch }).catch(() => undefined)
      void queryClient.invalidateQueries({ queryKey: queryKey('container-configurations.get', { params }) })
    },
    [],
  )

  const problems = useMemo(() => findProblems(draft, prefix), [draft, prefix])
  return {
    own: useMemo(() => shownFields(draft), [draft]),
    stored: draft.server,
    conflicts: draft.conflicts,
    problems,
    refused: draft.refused,
    state: online ? saveState(draft, problems) : ('offline' as const),
    edit: useCallback(
      (field: ContainerConfigField, value: unknown) => setDraft((before) => editField(before, field, value)),
      [],
    ),
    reset: useCallback((field: ContainerConfigField) => setDraft((before) => resetField(before, field)), []),
    resolve: useCallback(
      (property: string, choice: 'mine' | 'theirs') => setDraft((before) => resolveConflict(before, property, choice)),
      [],
    ),
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

/** The settings alone, without id, type and bookkeeping. */
export function fieldsOf(config: ContainerConfig): ContainerConfigFields {
  const names = new Set<string>(containerConfigFieldNames)
  return Object.fromEntries(
    Object.entries(config).filter(([name, value]) => names.has(name) && value !== null && value !== undefined),
  )
}
