import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { create } from '@bufbuild/protobuf'
import { DeploymentEventSchema } from '@crux/agent-protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectTo } from './client.ts'

let server: Http2Server
let sessions: ServerHttp2Session[]
/** Resolves when the server has received a call, which it never answers. */
let called: Promise<void>

beforeEach(async () => {
  server = createServer()
  sessions = []
  server.on('session', (session) => sessions.push(session))
  called = new Promise((resolve) => {
    server.on('stream', (stream) => {
      stream.on('error', () => undefined)
      resolve()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  for (const session of sessions) session.destroy()
  await new Promise((resolve) => server.close(resolve))
})

describe('a call without an answer', () => {
  const report = () => {
    const connection = connectTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const answer = connection
      .clientFor(() => 'token')
      .reportDeployment({ release: { deploymentId: 'one', number: 1 }, events: [create(DeploymentEventSchema)] })
      .then(
        () => 'answered',
        () => 'failed',
      )
    return { connection, answer }
  }

  test('fails when the connection is dropped', async () => {
    const { connection, answer } = report()
    await called
    connection.reset()
    expect(await answer).toBe('failed')
  })

  test('fails when the connection is dropped before it is established', async () => {
    const { connection, answer } = report()
    connection.reset()
    expect(await answer).toBe('failed')
  })

  test('fails when the server ends the connection', async () => {
    const { connection, answer } = report()
    await called
    for (const session of sessions) session.destroy()
    expect(await answer).toBe('failed')
    connection.reset()
  })

  test('fails when the server disappears immediately', async () => {
    const { connection, answer } = report()
    await called
    for (const session of sessions) session.socket?.destroy()
    expect(await answer).toBe('failed')
    connection.reset()
  })
})
