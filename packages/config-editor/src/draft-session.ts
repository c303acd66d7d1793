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
type FailedPatch = { status: number; details: readonly { property?: string; description: string }[] }

type TimerName = 'send' | 'read' | 'leave'

/** The dependencies of a session. `send` is called only between `found` and `lost`, and each call gets one answer or `lost`. */
export type DraftLink = {
  send: (patch: Patch) => void
  read: () => Promise<Stored>
  /** Saves over HTTP, for a page that is closed while the channel is unavailable. */
  save: (patch: Patch) => Promise<unknown>
  /** Everything was sent: no more messages follow. */
  close: () => void
  /** Returns a function that clears the timer. */
  setTimer: (run: () => void, ms: number) => () => void
}
/**
 * The draft of one configuration with its link: edits go out by themselves, changes of others come in. Every transition is at once, so
 * that an answer always meets the state that it answers; a page that renders late is merged by what it had shown.
 */
export class DraftSession {
  readonly #link: DraftLink
  readonly #listeners = new Set<() => void>()
  readonly #timers: Partial<Record<TimerName, (() => void) | undefined>> = {}
  #draft: ConfigDraft
  #context: DraftContext = {}
  #offline = false
  #leaving = false
  /** Counts connects and losses of the link: an answer from before the latest is ignored. */
  #connection = 0
  #snapshot: { draft: ConfigDraft; offline: boolean }

  constructor(initial: Stored, link: DraftLink) {
    this.#link = link
    this.#draft = startDraft(initial.fields, initial.revision)
    this.#snapshot = { draft: this.#draft, offline: false }
  }

  /** The same object until something changes. */
  readonly get = () => {
    if (this.#snapshot.draft !== this.#draft || this.#snapshot.offline !== this.#offline)
      this.#snapshot = { draft: this.#draft, offline: this.#offline }
    return this.#snapshot
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The context of the layer: with a prefix, the full container name is validated; with lower layers, values that they set may be omitted. */
  setContext(next: DraftContext) {
    this.#context = next
  }

  /** `seen` is the value that the form showed when it was edited. */
  edit(field: ContainerConfigField, value: unknown, seen: unknown) {
    this.#stopTimer('send')
    this.#transition(editField(this.#draft, field, value, seen))
  }

  /** At once, unless something else is on its way. */
  reset(field: ContainerConfigField) {
    this.#transition(resetField(this.#draft, field))
    this.#flush()
  }

  readonly resolve = (property: string, choice: 'mine' | 'theirs') =>
    this.#transition(resolveConflict(this.#draft, property, choice))

  /** The channel is connected. Changes while it was unavailable are read before anything is sent. */
  readonly found = () => {
    this.#connection += 1
    this.#offline = false
    this.#stopTimer('read')
    this.#read()
  }

  lost() {
    this.#connection += 1
    this.#offline = true
    this.#stopTimer('read')
    this.#transition(linkLost(this.#draft))
  }

  received(revision: number | undefined) {
    this.#transition(patchReceived(this.#draft, revision))
  }

  conflicted(found: { property: string; value: unknown }[], revision: number) {
    this.#transition(patchConflict(this.#draft, found, revision))
  }

  updated({ fields, revision }: Stored) {
    this.#transition(configUpdated(this.#draft, fields, revision))
  }

  failed({ status, details }: FailedPatch) {
    if (!this.#draft.sent) return
    // The patch itself was not rejected, so it is sent again.
    if (status < 500 && status !== 429) return this.#transition(patchRefused(this.#draft, details))
    this.#startTimer('send', againMs, () => this.#flush())
    this.#transition(returnSentToPending(this.#draft))
  }

  /** There is typed text that would be lost with the page. */
  readonly isOpen = () => saveState(this.#draft, []) !== 'saved'

  /** The page is there (again). */
  enter() {
    this.#leaving = false
    this.#stopTimer('leave')
  }

  /** The page is closed: valid typed text is still sent; `close` follows. */
  readonly leave = () => {
    this.#leaving = true
    this.#startTimer('leave', leaveMs, () => this.#close())
    this.#stopTimer('send')
    this.#sendRest()
  }

  #transition(next: ConfigDraft) {
    this.#notify(next)
    if (this.#draft.online && !isBehind(this.#draft)) this.#stopTimer('read')
    else if (this.#draft.online && this.#timers.read === undefined)
      this.#startTimer('read', overdueMs, () => this.#read())
    if (this.#leaving) this.#sendRest()
    else if (this.#timers.send === undefined && Object.keys(this.#draft.pending).length > 0)
      this.#startTimer('send', debounceMs, () => this.#flush())
  }

  #notify(next: ConfigDraft) {
    if (next === this.#draft) return
    this.#draft = next
    for (const listen of [...this.#listeners]) listen()
  }

  #flush() {
    this.#stopTimer('send')
    const next = nextPatch(this.#draft, this.#context)
    const patch = next.sent === this.#draft.sent ? undefined : next.sent?.patch
    this.#notify(next)
    if (patch) this.#link.send(patch)
  }

  #read() {
    const asked = this.#connection
    this.#link.read().then(
      ({ fields, revision }) => {
        if (asked !== this.#connection) return
        this.#transition((this.#draft.online ? configUpdated : linkFound)(this.#draft, fields, revision))
      },
      () => {
        if (asked === this.#connection) this.#startTimer('read', againMs, () => this.#read())
      },
    )
  }

  /** After the page was closed: sends over the channel while it is connected, else once over HTTP. */
  #sendRest() {
    const draft = this.#draft
    if (draft.sent && draft.online) return
    if (!draft.online) {
      const known = { ...returnSentToPending(draft), online: true, heard: draft.revision ?? 0 }
      const last = nextPatch(known, this.#context).sent
      if (last) void this.#link.save(last.patch).catch(() => undefined)
      return this.#close()
    }
    this.#draft = nextPatch(draft, this.#context)
    if (this.#draft.sent) this.#link.send(this.#draft.sent.patch)
    else if (!isBehind(draft)) this.#close()
  }

  #close() {
    this.#leaving = false
    this.#connection += 1
    this.#draft = linkLost(this.#draft)
    for (const name of ['send', 'read', 'leave'] as const) this.#stopTimer(name)
    this.#link.close()
  }

  #startTimer(name: TimerName, ms: number, run: () => void) {
    this.#stopTimer(name)
    this.#timers[name] = this.#link.setTimer(() => {
      this.#timers[name] = undefined
      run()
    }, ms)
  }

  #stopTimer(name: TimerName) {
    this.#timers[name]?.()
    this.#timers[name] = undefined
  }
}
