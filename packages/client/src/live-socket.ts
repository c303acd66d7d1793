import { closeCodes, liveReconnect } from '@crux/contract'

/** The part of the WebSocket interface that is used: those of the browser, of Node and of `ws` all match. */
export type Socket = {
  send(text: string): void
  close(code?: number): void
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
}

/** Runs a function later; the returned function cancels that. */
export type SetTimer = (run: () => void, ms: number) => () => void

/** closed: no subscription needs it. lost: the attempts are used up. kicked: the session ended (4401); only `reset` opens it again. */
export type LinkStatus = 'closed' | 'connecting' | 'open' | 'waiting' | 'lost' | 'kicked'

type Options = {
  connect: () => Socket
  onStatus: (status: LinkStatus) => void
  onOpen: () => void
  onText: (text: string) => void
  setTimer: SetTimer
}

/** One socket that opens on demand and reconnects at once, then after 5, 10, 15 s ..., 20 times. */
export function createLiveSocket(options: Options) {
  let socket: Socket | null = null
  let status: LinkStatus = 'closed'
  let attempt = 0
  let cancelRetry = () => {}

  const become = (next: LinkStatus) => {
    if (next === status) return
    status = next
    options.onStatus(next)
  }

  const connect = () => {
    become('connecting')
    const mine = options.connect()
    socket = mine
    mine.onopen = () => {
      if (socket !== mine) return
      attempt = 0
      become('open')
      options.onOpen()
    }
    mine.onmessage = (event: { data: unknown }) => {
      if (socket === mine && typeof event.data === 'string') options.onText(event.data)
    }
    mine.onerror = () => {}
    mine.onclose = (event: { code: number }) => {
      if (socket !== mine) return
      socket = null
      if (event.code === closeCodes.sessionEnded) return become('kicked')
      retry()
    }
  }

  const retry = () => {
    if (attempt >= liveReconnect.attemptsMax) return become('lost')
    const wait = attempt * liveReconnect.delayMs
    attempt += 1
    become('waiting')
    cancelRetry = options.setTimer(connect, wait)
  }

  const drop = () => {
    cancelRetry()
    const old = socket
    socket = null
    old?.close(1000)
  }

  return {
    get status() {
      return status
    },
    open() {
      if (status === 'closed') connect()
    },
    close() {
      drop()
      attempt = 0
      if (status !== 'kicked') become('closed')
    },
    /** After a new sign-in, or when the network is back: resets the attempts and connects now. */
    reset(wanted: boolean) {
      if (status === 'open' || status === 'connecting') return
      drop()
      attempt = 0
      become('closed')
      if (wanted) connect()
    },
    send(text: string) {
      if (status === 'open') socket?.send(text)
    },
  }
}
