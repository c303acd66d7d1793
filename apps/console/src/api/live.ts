import { createLive, type LinkStatus, type LiveChannel, type LiveParams, type Received } from '@crux/client'
import type { ChannelName, ServerMessage } from '@crux/contract'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { toastText } from '../components/toasts.tsx'
import { queryClient } from './query.ts'
import { leaveForLogin } from './session.ts'

/** The only live channel of the page, opened on first use. */
export const live = createLive(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api`)

live.onError((failure) => {
  // A failure with an id is shown by its caller, if the caller still waits for it.
  if (failure.id !== undefined) return
  const text = failure.description ?? failure.message
  if (failure.error === 'forbidden' && failure.path) void showRefused(text)
  else toastText(text)
})
live.onStatus((status) => {
  if (status === 'kicked') leaveForLogin()
})
// The network is back or the page is visible again, so the next attempt starts at once.
addEventListener('online', () => live.reset())
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && live.reset())

export const useLinkStatus = (): LinkStatus => useSyncExternalStore(live.onStatus, () => live.status)

/**
 * The server refuses the updates of a page whose subject was deleted or is not visible to the user any more. The page itself shows that once its data
 * is requested again, so the message is only for a page that still has its data.
 */
async function showRefused(text: string): Promise<void> {
  await queryClient.refetchQueries({ type: 'active' })
  const isShown = queryClient
    .getQueryCache()
    .findAll({ type: 'active' })
    .some(({ state }) => state.status === 'error')
  if (!isShown) toastText(text)
}

type Handlers<C extends ChannelName> = { [M in ServerMessage<C>]?: (data: Received<C, M>) => void } & {
  /** Runs after every (re)connect: ask for lists, start watches. */
  ready?: (channel: LiveChannel<C>) => void
  /** The server refused a message: an optimistic update must be reverted. A toast shows the text. */
  refused?: () => void
}

/** Follows a channel while the component is mounted. Handlers may change freely; the path is joined once. Returns how to send. */
export function useChannel<C extends ChannelName>(
  name: C,
  params: LiveParams<C>,
  handlers: Handlers<C>,
): LiveChannel<C>['send'] {
  const latest = useRef(handlers)
  latest.current = handlers
  const open = useRef<LiveChannel<C> | null>(null)
  const key = JSON.stringify(params)

  useEffect(() => {
    const channel = live.channel(name, JSON.parse(key) as LiveParams<C>)
    open.current = channel
    for (const type of Object.keys(latest.current)) {
      if (type === 'ready' || type === 'refused') continue
      const message = type as ServerMessage<C>
      channel.on(message, (data) => latest.current[message]?.(data))
    }
    const unready = channel.onReady(() => latest.current.ready?.(channel))
    const unheard = live.onError(({ path }) => path === channel.path && latest.current.refused?.())
    return () => {
      unready()
      unheard()
      open.current = null
      channel.close()
    }
  }, [name, key])

  return (type, data) => open.current?.send(type, data)
}
