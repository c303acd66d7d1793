import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { Api } from './api.ts'

const last = 'the last line\n'
const server = createServer((request, response) => {
  if (request.url === '/silent') return
  response.write('the first line\n')
  setTimeout(() => response.end(last), 50)
})
let api: Api

beforeEach(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the server has no port')
  api = new Api({ server: new URL(`http://127.0.0.1:${address.port}`), authorize: async () => ({}) })
})

afterEach(async () => {
  api.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

test('a stream whose reader leaves with its last line ends without an error that nobody handles', async () => {
  const unhandled: unknown[] = []
  const collect = (error: unknown) => unhandled.push(error)
  process.on('uncaughtException', collect)
  onTestFinished(() => void process.off('uncaughtException', collect))
  const leaving = new AbortController()
  let text = ''
  for await (const chunk of await api.stream({ path: '/log', signal: leaving.signal })) {
    text += String(chunk)
    if (!text.endsWith(last)) continue
    leaving.abort()
    break
  }
  expect(text).toBe(`the first line\n${last}`)
  await pause(20)
  expect(unhandled).toEqual([])
})

test('a request whose caller leaves fails at once, before its answer and before it is sent', async () => {
  const leaving = new AbortController()
  const asked = api.json({ path: '/silent', signal: leaving.signal })
  await pause(20)
  leaving.abort(new Error('left'))
  await expect(asked).rejects.toThrow('left')
  await expect(api.json({ path: '/silent', signal: leaving.signal })).rejects.toThrow('left')
})

test('a stream whose reader leaves while it waits fails', async () => {
  const leaving = new AbortController()
  const answer = await api.stream({ path: '/log', signal: leaving.signal })
  leaving.abort()
  await expect(answer.toArray()).rejects.toMatchObject({ name: 'AbortError' })
})
