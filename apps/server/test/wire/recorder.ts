import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { dial, type Frame } from '../kit/dial.ts'
import type { Someone, TestServer } from '../kit/index.ts'

/** The messages that one client sent and received, in order, with ids replaced by names. */
export type Recording = { sent?: unknown; received?: unknown; request?: string; answer?: unknown }[]

/**
 * Uses the wire format as an existing client does, without our own client library, and records all messages.
 *
 * @param names ids and the slug of the test's own resources; every other id becomes `<id>`
 */
export function createRecorder(server: TestServer, names: Record<string, string>) {
  const named = new Map(Object.entries(names).map(([name, id]) => [id, `<${name}>`]))
  const neutral = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value) ?? 'null', (key, inner) => {
      if (typeof inner !== 'string') return inner
      if (key === 'requestId') return '<request id>'
      if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(inner)) return '<time>'
      return inner.replace(
        /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\bt[0-9a-f]{10}\b/g,
        (id) => named.get(id) ?? '<id>',
      )
    })

  return {
    neutral,
    name: (id: string, name: string) => void named.set(id, `<${name}>`),

    /** One REST request with its response. */
    async request(as: Someone, method: string, path: string, body?: unknown): Promise<Recording[number]> {
      const answer = await server.request(path, {
        as,
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      const text = await answer.text()
      return {
        request: String(neutral(`${method} ${path}`)),
        ...(body !== undefined && { sent: neutral(body) }),
        answer: { status: answer.status, ...(text && { body: neutral(JSON.parse(text)) }) },
      }
    },

    /** A socket on one channel. `until` names the message that ends the recording. */
    async listen(as: Someone, path: string) {
      const socket = await dial(server.url, as.token)
      await socket.subscribe(path)
      const log: Recording = []
      let seen = socket.frames.length
      const isOwn = ({ type }: Frame) => type.startsWith(`${path}/`) || type === 'error'
      const short = ({ type, data }: Frame) => ({ type: type.replace(`${path}/`, ''), data: neutral(data) })
      const isPresence = ({ type }: Frame) => /\/(editor-|input-)/.test(type)
      return {
        log,
        send(type: string, data: unknown) {
          log.push({ sent: { type, data: neutral(data) } })
          socket.send(`${path}/${type}`, data)
        },
        /** Records everything up to the first new message of this type. */
        async until(type: string) {
          const wanted = (frame: Frame) => frame.type === `${path}/${type}` || frame.type === type
          await socket.next((frame) => socket.frames.indexOf(frame) >= seen && wanted(frame))
          const end = socket.frames.findIndex((frame, index) => index >= seen && wanted(frame)) + 1
          for (const frame of socket.frames.slice(seen, end))
            if (isOwn(frame) && !isPresence(frame)) log.push({ received: short(frame) })
          seen = end
        },
        close: () => socket.socket.close(),
      }
    },
  }
}

/** Compares with the recording of this name; `CRUX_RECORD_WIRE=1` writes it instead. */
export function expectRecorded(log: unknown, name: string): void {
  const file = new URL(`./recordings/${name}.json`, import.meta.url)
  if (process.env.CRUX_RECORD_WIRE) writeFileSync(file, `${JSON.stringify(log, null, 2)}\n`)
  expect(log).toEqual(JSON.parse(readFileSync(file, 'utf8')))
}
