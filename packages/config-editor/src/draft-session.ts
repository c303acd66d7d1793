import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import {
  type ConfigDraft,
  configUpdated,
  type DraftContext,
  editField,
  isBehind,
  linkFound,
  linkLost,
  nextPatch,
  type Patch,
  patchConflict,
  patchReceived,
  patchRefused,
  resetField,
  resolveConflict,
  returnSentToPending,
  saveState,
  startDraft,
} from './config-draft.ts'

/** Patches are sent after a pause in typing, so that not every key causes a request. */
export const debounceMs = 500
/** How long an announced revision may take to arrive before it is requested. */
const overdueMs = 1_000
const againMs = 3_000
/** How long a closed page may take to send what was typed in it. */
const leaveMs = 15_000

type Stored = { fields: ContainerConfigFields; revision: number | undefined }
type Refusal = { status: number; details: readonly { property?: string; description: string }[] }

/** The dependencies of a session. `send` is called only between `found` and `lost`, and each call gets one answer or `lost`. */
export type DraftLink = {
  send: (patch: Patch) => void
  read: () => Promise<Stored>
  /** Saves over HTTP, for a page that is closed while the channel is unavailable. */
  save: (patch: Patch) => Promise<unknown>
  /** Everything was sent: no more messages follow. */
  close: () => void
  setTimer: (run: () => void, ms: number) => unknown
  clearTimer: (timer: unknown) => void
}
export type DraftSession = ReturnType<typeof createDraftSession>

/**
 * The draft of one configuration with its link: edits go out by themselves, changes of others come in. Every transition is at once, so
 * that an answer always meets the state that it answers; a page that renders late is merged by what it had shown.
 */
export function createDraftSession(initial: Stored, link: DraftLink) {
  let draft = startDraft(initial.fields, initial.revision)
  let context: DraftContext = {}
  let offline = false
  let leaving = false
  /** Counts finds and losses of the link: an answer of an earlier one is ignored. */
  let era = 0
  const timers: { send?: unknown; read?: unknown; leave?: unknown } = {}
  const listeners = new Set<() => void>()

  const stop = (name: keyof typeof timers) => {
    if (timers[name] !== undefined) link.clearTimer(timers[name])
    timers[name] = undefined
  }
  const start = (name: keyof typeof timers, ms: number, run: () => void) => {
    stop(name)
    timers[name] = link.setTimer(() => {
      timers[name] = undefined
      run()
    }, ms)
  }

  function notify(next: ConfigDraft) {
    if (next === draft) return
    draft = next
    for (const listen of [...listeners]) listen()
  }

  function become(next: ConfigDraft) {
    notify(next)
    if (draft.online && !isBehind(draft)) stop('read')
    else if (draft.online && timers.read === undefined) start('read', overdueMs, read)
    if (leaving) handOver()
    else if (timers.send === undefined && Object.keys(draft.pending).length > 0) start('send', debounceMs, flush)
  }

  function flush() {
    stop('send')
    const next = nextPatch(draft, context)
    const patch = next.sent === draft.sent ? undefined : next.sent?.patch
    notify(next)
    if (patch) link.send(patch)
  }

  function read() {
    const asked = era
    link.read().then(
      ({ fields, revision }) => {
        if (asked === era) become((draft.online ? configUpdated : linkFound)(draft, fields, revision))
      },
      () => {
        if (asked === era) start('read', againMs, read)
      },
    )
  }

  /** After the page was closed: sends over the channel while it is connected, else once over HTTP. */
  function handOver() {
    if (draft.sent && draft.online) return
    if (!draft.online) {
      const last = nextPatch({ ...returnSentToPending(draft), online: true, heard: draft.revision ?? 0 }, context).sent
      if (last) void link.save(last.patch).catch(() => undefined)
      return close()
    }
    const next = nextPatch(draft, context)
    draft = next
    if (next.sent) link.send(next.sent.patch)
    else if (!isBehind(draft)) close()
  }

  function close() {
    leaving = false
    era += 1
    draft = linkLost(draft)
    for (const name of ['send', 'read', 'leave'] as const) stop(name)
    link.close()
  }

  const state = () => ({ draft, offline })
  let snapshot = state()
  return {
    /** The same object until something changes. */
    get() {
      if (snapshot.draft !== draft || snapshot.offline !== offline) snapshot = state()
      return snapshot
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** The context of the layer: with a prefix, the full container name is validated; with lower layers, values that they set may be omitted. */
    setContext(next: DraftContext) {
      context = next
    },
    edit(field: ContainerConfigField, value: unknown, seen: ContainerConfigFields) {
      stop('send')
      become(editField(draft, field, value, seen[field]))
    },
    /** At once, unless something else is on its way. */
    reset(field: ContainerConfigField) {
      become(resetField(draft, field))
      flush()
    },
    resolve: (property: string, choice: 'mine' | 'theirs') => become(resolveConflict(draft, property, choice)),
    /** The channel is connected. Changes while it was unavailable are read before anything is sent. */
    found() {
      era += 1
      offline = false
      stop('read')
      read()
    },
    lost() {
      era += 1
      offline = true
      stop('read')
      become(linkLost(draft))
    },
    received: (revision: number | undefined) => become(patchReceived(draft, revision)),
    conflicted: (found: { property: string; value: unknown }[], revision: number) =>
      become(patchConflict(draft, found, revision)),
    updated: ({ fields, revision }: Stored) => become(configUpdated(draft, fields, revision)),
    failed({ status, details }: Refusal) {
      if (!draft.sent) return
      // The patch itself was not rejected, so it is sent again.
      if (status < 500 && status !== 429) return become(patchRefused(draft, details))
      start('send', againMs, flush)
      become(returnSentToPending(draft))
    },
    /** There is typed text that would be lost with the page. */
    isOpen: () => saveState(draft, []) !== 'saved',
    /** The page is there (again). */
    enter() {
      leaving = false
      stop('leave')
    },
    /** The page is closed: valid typed text is still sent; `close` follows. */
    leave() {
      leaving = true
      start('leave', leaveMs, close)
      stop('send')
      handOver()
    },
  }
}
