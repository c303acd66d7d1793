import type { LiveChannel, LiveFailure } from '@crux/client'
import { DraftSession, getFields } from '@crux/config-editor'
import type { ContainerConfig, ResponseOf } from '@crux/contract'
import { client, queryClient, queryKey } from '../../../api/client.ts'
import { live } from '../../../api/live.ts'

type Config = ResponseOf<'container-configurations.get'>
type OpenDraft = {
  session: DraftSession
  /** The page is shown; returns a function to call when it is closed. */
  enter: () => () => void
}

/** A closed page sends what was typed; a user that returns meanwhile gets the same draft. */
const open = new Map<string, OpenDraft>()

/** The draft of a configuration on the live channel. Nothing is joined before `enter`. */
export function openDraft(params: { teamSlug: string; configId: string }, config: Config): OpenDraft {
  const path = `/${params.teamSlug}/container-configurations/${params.configId}`
  const known = open.get(path)
  if (known) return known
  const key = queryKey('container-configurations.get', { params })
  let channel: LiveChannel<'container-configuration'> | null = null
  let stops: (() => void)[] = []

  const session = new DraftSession(toStored(config), {
    send: (patch) => channel?.send('patch-config', patch),
    read: async () => {
      const fresh = await client.call('container-configurations.get', { params })
      queryClient.setQueryData<Config>(key, fresh)
      return toStored(fresh)
    },
    save: (patch) => client.call('container-configurations.update', { params, body: patch }),
    close: () => {
      for (const stop of stops) stop()
      channel?.close()
      channel = null
      open.delete(path)
      void queryClient.invalidateQueries({ queryKey: key })
    },
    setTimer: (run, ms) => {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
  })

  function join() {
    const joined = live.channel('container-configuration', params)
    channel = joined
    joined.on('patch-received', (message) => session.received(message?.revision))
    joined.on('patch-conflict', ({ conflicts, revision }) => session.conflicted(conflicts, revision))
    joined.on('config-updated', (updated) => {
      queryClient.setQueryData<Config>(key, (before) => before && { ...updated, parent: before.parent })
      session.updated(toStored(updated))
    })
    stops = [
      live.onError((failure) => {
        if (failure.path === path) session.failed({ status: failure.status, details: getDetails(failure) })
      }),
      live.onStatus((status) => {
        if (status !== 'open' && status !== 'connecting') session.lost()
      }),
      joined.onReady(session.found),
    ]
  }

  const opened: OpenDraft = {
    session,
    enter() {
      open.set(path, opened)
      session.enter()
      if (!channel) join()
      return session.leave
    },
  }
  return opened
}

const getDetails = ({ details, property, description, message }: LiveFailure) =>
  details ?? [{ property, description: description ?? message }]

const toStored = (config: ContainerConfig) => ({ fields: getFields(config), revision: config.revision })
