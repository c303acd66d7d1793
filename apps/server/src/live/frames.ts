import { type ChannelName, type ChannelSpec, type CruxError, liveChannels } from '@crux/contract'
import { createWriter } from '../http/index.ts'

/** `id` is chosen by the sender; a refusal of the message repeats it to identify the message. */
export type Frame = { type: string; data: unknown; id?: string }
/** The server repeats the id to the sender, so that its length is limited. */
const idMax = 64

/** Reads `{type, data, id?}` of a text frame; returns undefined for anything else, which is ignored. */
export function readFrame(text: string): Frame | undefined {
  try {
    const frame: unknown = JSON.parse(text)
    if (typeof frame !== 'object' || frame === null || !('type' in frame) || typeof frame.type !== 'string')
      return undefined
    const id = 'id' in frame && typeof frame.id === 'string' ? { id: frame.id.slice(0, idMax) } : {}
    return { type: frame.type, data: 'data' in frame ? frame.data : null, ...id }
  } catch {
    return undefined
  }
}

/** Bulk messages, thousands of rows per second in a shape that our own code has just built, are not filtered. */
const bulk = new Set(['container-log-batch'])

/** Writes the declared fields of a message and drops the rest, as the REST responses do. */
export function writeMessage(channel: ChannelName, path: string, type: string, data: unknown): string {
  const spec: ChannelSpec = liveChannels[channel]
  const message = spec.server[type]
  if (!message) throw new Error(`${channel} declares no message ${type}`)
  const write = bulk.has(type) ? JSON.stringify : createWriter(message.data)
  return `{"type":${JSON.stringify(`${path}/${type}`)},"data":${write(data)}}`
}

export const writeFrame = (type: string, data: unknown): string => JSON.stringify({ type, data })

/** The `error` frame: the body of our REST errors with the path and the message that it belongs to. */
export const writeError = (error: CruxError, path?: string, id?: string): string => {
  const { description, requestId: _, ...body } = error.toBody()
  const { retryAfterS } = error
  return writeFrame('error', { ...body, description, message: description, retryAfterS, path, id })
}
