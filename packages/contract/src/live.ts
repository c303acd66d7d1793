import type { z } from 'zod'
import { type PathParams, withPathParams } from './path-params.ts'
import type { Permission } from './policy.ts'

/** A message that a client may send on a channel. Without `data`, the message has no content. */
export type ClientMessageSpec = {
  data: z.ZodType
  permission: Permission
  audit: string | false
  /** As `configInput` of an endpoint. */
  configInput?: true
}
export type ServerMessageSpec = { data: z.ZodType }

/** A live channel: its path, messages in both directions, and the permission that subscribing needs. */
export type ChannelSpec = {
  path: `/${string}`
  params: z.ZodObject
  permission: Permission
  client: Record<string, ClientMessageSpec>
  server: Record<string, ServerMessageSpec>
}
type Declared = Record<string, Omit<ChannelSpec, 'params'>>
/** The table, with the parameters of each path; every channel has some. */
export function channels<const T extends Declared>(
  table: T,
): { [Name in keyof T]: T[Name] & { params: PathParams<T[Name]['path']> } }
/* @__NO_SIDE_EFFECTS__ */
export function channels(table: Declared) {
  return withPathParams(table)
}

/** Close codes of the socket: 4401 = the session ended, do not reconnect until the user signs in again. */
export const closeCodes = { goingAway: 1001, policy: 1008, tooSlow: 1013, sessionEnded: 4401 } as const
/** The reconnect rule: wait (attempt + 1) × 5 s, at most 20 attempts; the first retry comes at once. */
export const liveReconnect = { delayMs: 5_000, attemptsMax: 20 } as const
