import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOnePort, limitArrival, type OnePort } from './one-port.ts'

const limitMs = 50
let port: OnePort
let session: ClientHttp2Session
beforeAll(async () => {
  port = createOnePort({
    http1: (_request, response) => void response.end(),
    http2: (request, response) => {
      limitArrival(request, limitMs)
      request.resume()
      request.on('end', () => setTimeout(() => response.end('all of it'), 3 * limitMs))
    },
    tls: undefined,
  })
  port.server.listen(0, '127.0.0.1')
  await once(port.server, 'listening')
  session = connect(`http://127.0.0.1:${(port.server.address() as AddressInfo).port}`)
})
afterAll(() => {
  session.destroy()
  port.destroy()
  port.server.close()
})

it('the server ends an incomplete HTTP/2 request after its time limit', async () => {
  const stream = session.request({ ':method': 'POST' }, { endStream: false })
  stream.write('half of')
  await once(stream, 'close')
  expect(stream.rstCode).toBe(8)
})

it('the server sets no time limit for the response to a complete HTTP/2 request', async () => {
  const stream = session.request({ ':method': 'POST' })
  stream.end('something')
  expect(await text(stream)).toBe('all of it')
})
