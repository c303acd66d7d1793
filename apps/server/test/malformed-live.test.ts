import { type ChannelName, liveChannels } from '@crux/contract'
import { arbitraryJson } from '@crux/test-kit'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { type Someone, startTestServer, type TestServer, until } from './kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from './kit/test-environment.ts'

/** Every run sends the same; CRUX_TEST_SEED sets another seed. A failure names the data, reduced to a minimum. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_121)
const messagesPerType = process.env.CRUX_TEST_FULL ? 1_000 : 20

type Frame = { type: string; data: { path?: string; status?: number; value?: unknown } | null }

let crux: TestServer
let owner: Someone
beforeAll(async () => {
  crux = await startTestServer()
  owner = crux.signUp('Owner')
})
afterAll(() => crux.stop())

async function dial() {
  const address = `${crux.url.replace('http', 'ws')}/api`
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${owner.token}` } })
  let frames: Frame[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Frame))
  await new Promise((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  return {
    socket,
    send: (text: string) => socket.send(text),
    /** All frames up to the awaited one. */
    async upTo(wanted: (frame: Frame) => boolean): Promise<Frame[]> {
      await until(() => frames.some(wanted) || socket.readyState !== WebSocket.OPEN)
      if (!frames.some(wanted)) throw new Error('the socket was closed')
      const seen = frames
      frames = []
      return seen
    },
  }
}

describe('malformed live messages', () => {
  const messages = (Object.keys(liveChannels) as ChannelName[]).flatMap((channel) =>
    Object.entries(liveChannels[channel].client as Record<string, { data: z.ZodType }>).map(
      ([type, spec]) => [channel, type, spec] as const,
    ),
  )
  it.each(messages)(
    '%s/%s are answered or ignored, and never with a server error',
    async (channel, type, spec) => {
      const testEnvironment = await makeTestEnvironment(crux, owner)
      const path = liveChannels[channel].path.replace(
        /:(\w+)/g,
        (_, name: string) => testEnvironment[name as keyof TestEnvironment] ?? '',
      )
      const { socket, send, upTo } = await dial()
      send(JSON.stringify({ type: 'subscribe', data: { path } }))
      await upTo((frame) => frame.type === 'subbed')
      const schema = z.toJSONSchema(spec.data, { io: 'input', unrepresentable: 'any', target: 'draft-7' })
      let count = 0
      await fc.assert(
        fc.asyncProperty(
          arbitraryJson(schema as Record<string, unknown>, Object.values(testEnvironment)),
          async (data) => {
            send(`{"type":${JSON.stringify(`${path}/${type}`)},"data":${data}}`)
            // Messages of a path start in order: the answer to this one comes after the start of the previous one.
            const probe = `probe-${++count}`
            send(JSON.stringify({ type: `${path}/${probe}`, data: null }))
            const seen = await upTo((frame) => frame.data?.value === probe)
            const fault = seen.find((frame) => frame.type === 'error' && (frame.data?.status ?? 0) >= 500)
            if (fault) throw new Error(`answered ${JSON.stringify(fault)}`)
          },
        ),
        { seed, numRuns: messagesPerType },
      )
      socket.close()
    },
    messagesPerType * 200 + 20_000,
  )
})
