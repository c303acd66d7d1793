import { WebSocket } from 'ws'
import { until } from './index.ts'

export type Frame = { type: string; data: { path?: string; status?: number; error?: string } }

/** A raw live socket for messages that the typed client would not send; it keeps every frame. */
export async function dial(url: string, token: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api`, {
    headers: { ...headers, authorization: `Bearer ${token}` },
  })
  const frames: Frame[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Frame))
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('unexpected-response', (_request, response) => reject(new Error(`status ${response.statusCode}`)))
    socket.on('error', reject)
  })
  const send = (type: string, data: unknown) => socket.send(JSON.stringify({ type, data }))
  const next = (wanted: (frame: Frame) => boolean) => until(() => frames.find(wanted))
  return {
    socket,
    frames,
    closed,
    send,
    next,
    async subscribe(path: string) {
      send('subscribe', { path })
      return next((frame) => ['subbed', 'sub-failed'].includes(frame.type) && frame.data.path === path)
    },
  }
}
