import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import { applyConfigPatch, fillRowIds } from '@crux/rules'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Patch, saveState, shownFields } from './config-draft.ts'
import { DraftSession } from './draft-session.ts'

type Row = { id?: string; key: string; value: string }
type Stored = { fields: ContainerConfigFields; revision: number }
const getRows = (fields: ContainerConfigFields) => (fields.environment ?? []) as Row[]

/** Applies patches with the rules of the server, one after another. */
function makeServer() {
  let stored: Stored = {
    fields: { name: 'web', environment: [{ id: 'own-S', key: 'S', value: 'start' }] },
    revision: 1,
  }
  const changedAt = new Map<string, number>()
  let ids = 0
  return {
    stored: () => stored,
    patch(patch: Patch) {
      const seen = patch.revision === undefined ? new Map<string, number>() : changedAt
      const result = applyConfigPatch({ fields: stored.fields, patch, changedAt: seen })
      if (result.kind === 'conflict') return { conflicts: result.conflicts, revision: stored.revision }
      if (result.changed.length === 0) return { revision: stored.revision }
      const revision = stored.revision + 1
      for (const part of result.changed) changedAt.set(part, revision)
      stored = { fields: fillRowIds(result.fields, stored.fields, () => `server-${++ids}`), revision }
      return { revision, changed: true }
    },
  }
}

type Answer = { conflicts?: { property: string; value: unknown }[]; revision: number }
type Page = ReturnType<typeof makePage>
/** What a user typed, and which value they saw before: a later value may replace an earlier one only if that was seen. */
type Typed = { place: string; value: string; over: string | undefined }

/**
 * One browser. Nothing happens by itself: each message, timer and rendering waits until the test lets it go, so that every order can be
 * tried. Answers keep their order; updates (a notification and a query each) may overtake them and one another.
 */
function makePage(name: string, server: ReturnType<typeof makeServer>, others: () => readonly Page[]) {
  const timers = new Set<() => void>()
  let toServer: Patch[] = []
  let answers: Answer[] = []
  let updates: Stored[] = []
  const reads: { done: (stored: Stored) => void; found?: Stored }[] = []
  let up = false
  let closed = false
  let serial = 0
  const session: DraftSession = new DraftSession(server.stored(), {
    send: (patch) => {
      if (!up) throw new Error('sent without a link')
      toServer.push(patch)
    },
    // Synchronous, so that the test decides when.
    // biome-ignore lint/suspicious/noThenProperty: it imitates a promise that the test resolves itself
    read: () => ({ then: (done: (stored: Stored) => void) => void reads.push({ done }) }) as unknown as Promise<Stored>,
    save: async (patch) => void page.arrive(patch),
    close: () => {
      closed = true
    },
    setTimer: (run) => {
      timers.add(run)
      return () => void timers.delete(run)
    },
  })
  const shown = () => shownFields(session.get().draft)
  let rendered = shown()
  let behind = false

  const page = {
    name,
    session,
    shown,
    draft: () => session.get().draft,
    closed: () => closed,
    typed: [] as Typed[],
    /** Keys that only this page touches, with what was typed last. */
    own: new Map<string, string>(),
    given: new Set<string>(),
    render(late = false) {
      behind = late && !behind
      if (!behind) rendered = shown()
    },
    arrive(patch: Patch): Answer {
      const { changed, ...answer } = server.patch(patch)
      if (changed) for (const other of others()) other.hear(server.stored())
      return answer
    },
    hear: (stored: Stored) => void (up && updates.push(stored)),
    /** Types on top of what was rendered last, as an event handler does. */
    edit(field: ContainerConfigField, change: (before: ContainerConfigFields) => unknown) {
      session.edit(field, change(rendered), rendered[field])
    },
    set(key: string) {
      const value = `${name}${++serial}`
      const known = getRows(rendered).find((row) => row.key === key)
      page.typed.push({ place: key, value, over: known?.value })
      if (key.startsWith(name)) page.own.set(key, value)
      page.edit('environment', (before) =>
        known
          ? getRows(before).map((row) => (row === known ? { ...row, value } : row))
          : [...getRows(before), { id: `${name}-row-${serial}`, key, value }],
      )
    },
    rename() {
      const value = `${name}${++serial}`
      page.typed.push({ place: 'name', value, over: rendered.name ?? undefined })
      page.edit('name', () => value)
    },
    begin: () =>
      page.edit('environment', (before) => [
        ...getRows(before),
        { id: `${name}-begun-${++serial}`, key: '', value: '' },
      ]),
    fill() {
      const begun = getRows(rendered).find((row) => row.key === '')
      if (!begun || getRows(shown()).find((row) => row.id === begun.id)?.key !== '') return
      const value = `${name}${++serial}`
      const filled = { ...begun, key: `${name}_KEY_${serial}`, value }
      page.typed.push({ place: filled.key, value, over: undefined })
      page.own.set(filled.key, value)
      page.edit('environment', (before) => getRows(before).map((row) => (row === begun ? filled : row)))
    },
    connect() {
      if (up) return
      up = true
      session.found()
    },
    cut(arrives: boolean) {
      if (!up) return
      if (arrives) for (const patch of toServer) page.arrive(patch)
      up = false
      toServer = []
      answers = []
      updates = []
      session.lost()
    },
    up() {
      const patch = toServer.shift()
      if (patch) answers.push(page.arrive(patch))
    },
    answer() {
      const answer = answers.shift()
      if (!answer) return
      if (answer.conflicts) session.conflicted(answer.conflicts, answer.revision)
      else session.received(answer.revision)
    },
    update(at: number) {
      const [stored] = updates.splice(at % Math.max(1, updates.length), 1)
      if (stored) session.updated(stored)
    },
    /** The server reads, later its answer is there. */
    read() {
      const [first] = reads
      if (first?.found) reads.shift()?.done(first.found)
      else if (first) first.found = server.stored()
    },
    tick() {
      for (const run of [...timers]) if (timers.delete(run)) run()
    },
    choose(choice: 'mine' | 'theirs') {
      const [property, conflict] = Object.entries(page.draft().conflicts)[0] ?? []
      if (!property || !conflict) return
      if ([...page.own.keys()].some((key) => property.endsWith(key))) throw new Error(`nobody else touched ${property}`)
      const texts = [conflict.mine, conflict.theirs].map(getText)
      if (choice === 'theirs') page.given.add(texts[0] ?? '')
      else page.given.add(texts[1] ?? '')
      session.resolve(property, choice)
    },
    busy: () => toServer.length + answers.length + updates.length + reads.length > 0,
  }
  return page
}

const textAt = (fields: ContainerConfigFields, key: string) => getRows(fields).find((row) => row.key === key)?.value
const getText = (part: unknown): string =>
  typeof part === 'object' && part !== null && 'value' in part ? String(part.value) : String(part)

type Action = [kind: string, page: number, detail: number]
const typing = ['shared', 'own', 'rename', 'begin', 'fill'] as const
const moving = ['up', 'answer', 'update', 'read', 'tick'] as const
const rare = ['connect', 'cut', 'cut after', 'choose'] as const
const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...typing) },
      { weight: 8, arbitrary: fc.constantFrom(...moving) },
      { weight: 1, arbitrary: fc.constantFrom(...rare) },
    ),
    fc.nat(1),
    fc.nat(5),
  ),
  { maxLength: 120, size: 'max' },
)

function run(page: Page, [kind, , detail]: Action) {
  const steps: Record<string, () => void> = {
    shared: () => page.set(detail % 2 === 0 ? 'S' : 'T'),
    own: () => page.set(`${page.name}_${detail % 2}`),
    rename: page.rename,
    begin: page.begin,
    fill: page.fill,
    connect: page.connect,
    cut: () => page.cut(false),
    'cut after': () => page.cut(true),
    up: page.up,
    answer: page.answer,
    update: () => page.update(detail),
    read: page.read,
    tick: page.tick,
    choose: () => page.choose(detail % 2 === 0 ? 'mine' : 'theirs'),
  }
  steps[kind]?.()
}

/** Delivers all messages and resolves all conflicts until nothing is pending. */
function calm(pages: readonly Page[]) {
  for (let round = 0; round < 200; round++) {
    for (const page of pages) {
      page.connect()
      page.read()
      page.up()
      page.answer()
      page.update(0)
      page.render()
      page.tick()
      page.choose('mine')
    }
    const done = pages.every((page) => !page.busy() && saveState(page.draft(), []) === 'saved' && page.draft().online)
    if (done) return
  }
  throw new Error(`it never comes to rest: ${JSON.stringify(pages.map((page) => [page.busy(), page.draft()]))}`)
}

const plain = (fields: ContainerConfigFields) => ({
  name: fields.name,
  environment: Object.fromEntries(
    getRows(fields)
      .filter((row) => row.key !== '')
      .map((row) => [row.key, row.value]),
  ),
})

describe('two users that edit one configuration', () => {
  it('get the same state in each order of messages, and lose no typed text', () => {
    fc.assert(
      fc.property(actions, (script) => {
        const server = makeServer()
        const pages: Page[] = []
        for (const name of ['L', 'R']) pages.push(makePage(name, server, () => pages))
        // Half of the scripts start before a channel is connected.
        if (script.length % 2 === 0) calm(pages)
        for (const action of script) {
          const page = pages[action[1]]
          // A message just before an event is sometimes not rendered yet when the handler runs.
          for (const other of pages) other.render(other === page && action[2] < 2)
          if (page) run(page, action)
          for (const { own, shown } of pages) {
            const fields = shown()
            for (const [key, value] of own)
              if (textAt(fields, key) !== value) throw new Error(`${key} does not show ${value}`)
          }
        }
        calm(pages)
        const stored = plain(server.stored().fields)
        for (const page of pages) expect(plain(page.shown())).toEqual(stored)

        // Every value is present, or was replaced by its author or a user who saw it, or was discarded in a conflict.
        const kept = new Set([
          stored.name,
          ...Object.values(stored.environment),
          ...pages.flatMap((page) => [...page.given, ...page.typed.map((one) => one.over)]),
        ])
        const last = (typed: Typed[]) =>
          typed.filter((one, at) => !typed.slice(at + 1).some((later) => later.place === one.place))
        const lost = pages.flatMap((page) => last(page.typed)).filter((one) => !kept.has(one.value))
        expect(lost).toEqual([])
        for (const page of pages)
          for (const [key, value] of page.own) expect(stored.environment).toHaveProperty(key, value)
      }),
      { numRuns: process.env.CRUX_TEST_FULL ? 10_000 : 300 },
    )
  }, 300_000)
})

describe('a session whose page was closed', () => {
  const two = () => {
    const server = makeServer()
    const pages: Page[] = []
    const page = makePage('L', server, () => pages)
    pages.push(page)
    return { server, page }
  }

  it('sends what was typed while a patch was in flight', () => {
    const { server, page } = two()
    calm([page])
    page.set('A')
    page.tick()
    page.render()
    page.set('B')
    page.session.leave()
    expect(page.closed()).toBe(false)
    for (let step = 0; step < 2; step++) {
      page.up()
      page.answer()
      page.update(0)
    }
    expect(plain(server.stored().fields).environment).toMatchObject({ A: 'L1', B: 'L2' })
    expect(page.closed()).toBe(true)
  })

  it('saves over HTTP while the channel is unavailable, and keeps the draft for a user that returns before', () => {
    const { server, page } = two()
    page.set('A')
    page.session.leave()
    expect([plain(server.stored().fields).environment.A, page.closed()]).toEqual(['L1', true])

    const { page: back } = two()
    calm([back])
    back.set('A')
    back.session.leave()
    back.session.enter()
    back.up()
    back.answer()
    back.update(0)
    expect([back.closed(), textAt(back.shown(), 'A'), saveState(back.draft(), [])]).toEqual([false, 'L1', 'saved'])
  })

  it('continues after a temporary failure of the server', () => {
    const { server, page } = two()
    calm([page])
    page.set('A')
    page.tick()
    page.session.failed({ status: 503, details: [{ description: 'The database is away.' }] })
    expect(saveState(page.draft(), [])).toBe('waiting')
    calm([page])
    expect(plain(server.stored().fields).environment).toMatchObject({ A: 'L1' })
  })
})
