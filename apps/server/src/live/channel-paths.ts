import { type ChannelName, type ChannelSpec, type Channels, liveChannels } from '@crux/contract'
import { getKeys } from '@crux/service-kit'
import type { z } from 'zod'

export type ChannelMatch = {
  channel: ChannelName
  spec: ChannelSpec
  params: z.output<Channels[ChannelName]['params']>
}

type Pattern = { channel: ChannelName; spec: Channels[ChannelName]; segments: string[] }
const patterns: Pattern[] = getKeys(liveChannels).map((channel) => {
  const spec = liveChannels[channel]
  return { channel, spec, segments: spec.path.split('/') }
})

/**
 * The channel of a concrete path; undefined when there is none, or when a part does not have the form that the channel
 * declares.
 */
export function matchChannel(path: string): ChannelMatch | undefined {
  const given = path.split('/')
  for (const { channel, spec, segments } of patterns) {
    if (segments.length !== given.length) continue
    const raw: Record<string, string> = {}
    const fits = segments.every((segment, index) => {
      const part = given[index] ?? ''
      if (!segment.startsWith(':')) return segment === part
      raw[segment.slice(1)] = decode(part)
      return part !== ''
    })
    if (!fits) continue
    const parsed = spec.params.safeParse(raw)
    if (parsed.success) return { channel, spec, params: parsed.data }
  }
  return undefined
}

/** Identifies the resource independently of its team's slug: the last part of the path. */
export const getSubject = ({ channel, params }: ChannelMatch, teamId: string): string => {
  const id = Object.entries(params).findLast(([name]) => name !== 'teamSlug')?.[1]
  return `${channel}:${id ?? teamId}`
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
