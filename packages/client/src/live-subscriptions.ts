/** failed: the server refused it; it is requested again after the next reconnect. */
export type SubscriptionStatus = 'unsubscribed' | 'in-progress' | 'subscribed' | 'failed'

type Options = {
  send: (type: string, data: unknown, id?: string) => void
  isOpen: () => boolean
  onFirst: () => void
  onNone: () => void
  onRefused: (path: string) => void
}

type Listener = (data: unknown) => void
type User = { listeners: Map<string, Set<Listener>>; ready: Set<() => void> }
type Entry = {
  status: SubscriptionStatus
  /** An unsubscribe is in progress; users that join in the meantime are subscribed after its answer. */
  leaving: boolean
  users: Set<User>
  queue: { type: string; data: unknown; id: string | undefined }[]
}

/** The users of each path of the socket, and the state of each path. */
export function createSubscriptions(options: Options) {
  const entries = new Map<string, Entry>()
  const used = () => [...entries.values()].some((entry) => entry.users.size > 0)

  const ask = (path: string, entry: Entry) => {
    if (!options.isOpen() || entry.leaving) return
    entry.status = 'in-progress'
    options.send('subscribe', { path })
  }

  const confirmed = (path: string, entry: Entry) => {
    entry.status = 'subscribed'
    // The answer belongs to a subscribe that was canceled; users that joined since then are subscribed by the next one.
    if (entry.leaving) return
    const queue = entry.queue.splice(0)
    for (const { type, data, id } of queue) options.send(`${path}/${type}`, data, id)
    for (const user of [...entry.users]) for (const run of [...user.ready]) run()
  }

  const left = (path: string, entry: Entry) => {
    entry.leaving = false
    entry.status = 'unsubscribed'
    if (entry.users.size > 0) ask(path, entry)
    else entries.delete(path)
  }

  const leave = (path: string, entry: Entry, user: User) => {
    if (!entry.users.delete(user) || entry.users.size > 0) return
    entry.queue.length = 0
    if (options.isOpen() && (entry.status === 'subscribed' || entry.status === 'in-progress')) {
      entry.leaving = true
      options.send('unsubscribe', { path })
    } else if (!entry.leaving) entries.delete(path)
    if (!used()) options.onNone()
  }

  return {
    join(path: string) {
      const first = !used()
      const entry = entries.get(path) ?? { status: 'unsubscribed', leaving: false, users: new Set<User>(), queue: [] }
      entries.set(path, entry)
      const user: User = { listeners: new Map(), ready: new Set() }
      entry.users.add(user)
      if (first) options.onFirst()
      if (entry.status === 'unsubscribed' || entry.status === 'failed') ask(path, entry)
      return createUserHandle(path, entry, user, { send: options.send, leave: () => leave(path, entry, user) })
    },
    receive(type: string, data: unknown) {
      if (type === 'subbed' || type === 'unsubbed' || type === 'sub-failed') {
        const path = toPath(data)
        const entry = path === undefined ? undefined : entries.get(path)
        if (path === undefined || !entry) return
        if (type === 'subbed') return confirmed(path, entry)
        if (type === 'unsubbed') return left(path, entry)
        entry.status = 'failed'
        entry.queue.length = 0
        return options.onRefused(path)
      }
      const cut = type.lastIndexOf('/')
      const entry = entries.get(type.slice(0, cut))
      if (!entry) return
      for (const user of [...entry.users])
        for (const listen of [...(user.listeners.get(type.slice(cut + 1)) ?? [])]) listen(data)
    },
    /** The socket is closed: no path is subscribed any more, and unused paths are deleted. */
    forget() {
      for (const [path, entry] of entries) {
        entry.status = 'unsubscribed'
        entry.leaving = false
        if (entry.users.size === 0) entries.delete(path)
      }
    },
    /** The socket is open (again): subscribes every path that has users. */
    renew() {
      for (const [path, entry] of entries) ask(path, entry)
    },
    any: used,
    clear: () => entries.clear(),
  }
}

/** What one user of a path can do with it. */
function createUserHandle(
  path: string,
  entry: Entry,
  user: User,
  actions: { send: Options['send']; leave: () => void },
) {
  return {
    // A path whose unsubscribe is in progress is subscribed again after its answer.
    status: (): SubscriptionStatus => (entry.leaving ? 'in-progress' : entry.status),
    send(type: string, data: unknown, id?: string) {
      if (entry.status === 'subscribed' && !entry.leaving) actions.send(`${path}/${type}`, data, id)
      else if (entry.users.has(user)) entry.queue.push({ type, data, id })
    },
    on(type: string, listen: Listener) {
      const listeners = user.listeners.get(type) ?? new Set()
      user.listeners.set(type, listeners.add(listen))
      return () => void listeners.delete(listen)
    },
    onReady(run: () => void) {
      user.ready.add(run)
      if (entry.status === 'subscribed' && !entry.leaving) run()
      return () => void user.ready.delete(run)
    },
    leave: actions.leave,
  }
}

const toPath = (data: unknown): string | undefined =>
  typeof data === 'object' && data !== null && 'path' in data && typeof data.path === 'string' ? data.path : undefined
