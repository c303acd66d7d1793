import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { NoAnswerError, openDocker } from './client.ts'
import { readLog } from './read-log.ts'

test('the debug description of the socket pool stays short however many sockets there are', async () => {
  const { docker, close } = await openDocker('unix:///var/run/docker.sock')
  try {
    await Promise.all(Array.from({ length: 20 }, () => docker.version()))
    const { agent } = docker.modem as unknown as { agent: unknown }
    expect(inspect(agent, { showHidden: true, depth: null }).length).toBeLessThan(100)
  } finally {
    close()
  }
})

/** An engine that answers the first request itself, and passes all others to `answer`. */
async function withEngine(answer: RequestListener, use: (dockerHost: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'crux-engine-'))
  const path = join(directory, 'docker.sock')
  const engine = createServer((request, response) =>
    request.url === '/version' ? response.end('{}') : answer(request, response),
  )
  await new Promise<void>((resolve) => engine.listen(path, resolve))
  try {
    await use(`unix://${path}`)
  } finally {
    engine.closeAllConnections()
    engine.close()
    await rm(directory, { recursive: true, force: true })
  }
}

test('an answer that is cut off in the middle fails at once', () =>
  withEngine(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('[{"Id":"a"', () => response.destroy())
    },
    async (dockerHost) => {
      const { docker, close } = await openDocker(dockerHost)
      await expect(docker.listContainers()).rejects.toMatchObject({ code: 'ECONNRESET' })
      close()
    },
  ))

test('a call without an answer fails after its time limit while a call that waits on purpose continues', () =>
  withEngine(
    () => undefined,
    async (dockerHost) => {
      const { docker, close } = await openDocker(dockerHost, { readMs: 20, changeMs: 40 })
      const giving = new AbortController()
      const ended = docker.getContainer('a').wait({ abortSignal: giving.signal })
      let over = false
      ended.catch(() => {
        over = true
      })
      await expect(docker.listContainers()).rejects.toBeInstanceOf(NoAnswerError)
      await expect(docker.getContainer('a').start()).rejects.toThrow('no answer within 0.04 s')
      expect(over).toBe(false)
      giving.abort()
      await expect(ended).rejects.toThrow()
      close()
    },
  ))

test('a log whose reader leaves with its last line ends without an error that nobody handles', () =>
  withEngine(
    ({ url }, response) => {
      if (url?.includes('/json')) return void response.end('{"Config":{"Tty":true,"Env":[],"Labels":{}}}')
      response.flushHeaders()
      setTimeout(() => response.end('2026-01-02T03:04:05.000000006Z the last line\n'), 50)
    },
    async (dockerHost) => {
      const unhandled: unknown[] = []
      const collect = (error: unknown) => unhandled.push(error)
      process.on('uncaughtException', collect)
      onTestFinished(() => void process.off('uncaughtException', collect))
      const { docker, close } = await openDocker(dockerHost)
      const leaving = new AbortController()
      const texts: string[] = []
      for await (const lines of readLog(docker, 'a', { take: undefined, follow: true, signal: leaving.signal })) {
        texts.push(...lines.map(({ text }) => text))
        leaving.abort()
      }
      await pause(20)
      expect(texts).toEqual(['the last line'])
      expect(unhandled).toEqual([])
      close()
    },
  ))
