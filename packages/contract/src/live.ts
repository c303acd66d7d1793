import type { z } from 'zod'
import type { Permission } from './policy.ts'

/** What a client may send on a channel. `data` absent: the message carries nothing. */
export type ClientMessageSpec = {
  data: z.ZodType
  permission: Permission
  audit: string | false
  /** As `configInput` of an endpoint. */
  configInput?: true
}
export type ServerMessageSpec = { data: z.ZodType }

/** A live channel: a path that is subscribed, messages in both directions, the right that subscribing needs (backend.md 3). */
export type ChannelSpec = {
  path: `/${string}`
  params: z.ZodObject
  permission: Permission
  client: Record<string, ClientMessageSpec>
  server: Record<string, ServerMessageSpec>
}
export const channels = <const T extends Record<string, ChannelSpec>>(table: T): T => table

/** Close codes of the socket (backend.md 3.1): 4401 = the session ended, do not reconnect until the person signs in again. */
export const closeCodes = { goingAway: 1001, policy: 1008, tooSlow: 1013, sessionEnded: 4401 } as const
/** Reconnect rule of the spec: wait (attempt + 1) × 5 s, at most 20 attempts; the first retry comes at once (ui.md U1). */
export const liveReconnect = { delayMs: 5_000, attemptsMax: 20 } as const
