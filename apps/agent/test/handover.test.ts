import { readFile } from 'node:fs/promises'
import { loadImage } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeRuntimeFiles } from '../scripts/build-image.ts'
import { startTestEnvironment, type TestEnvironment, waitUntil } from './kit/index.ts'

let testEnvironment: TestEnvironment
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
})
afterAll(() => testEnvironment.dispose())

/** As the server sends it: how long a client may need from the lookup of a name to the connection. */
const drainMs = 1_000

/**
 * Sends requests to both names, each with a new lookup and a new connection, and prints the results on request. A request that the client
 * itself held up for longer than the drain is not counted: by then the address that it looked up may be gone.
 */
const clientScript = `
import { createServer, get } from 'node:http'
const seen = {}
let bad = []
function ask(host) {
  return new Promise((resolve) => {
    const startedAt = Date.now()
    const failed = (error) => {
      const tookMs = Date.now() - startedAt
      // Both start at once: until the service has answered for the first time, nothing is lost.
      if (Object.keys(seen).length > 0 && (tookMs < ${drainMs} || error.code !== 'ECONNREFUSED'))
        bad.push(host + ' ' + (error.code ?? error.message) + ' after ' + tookMs + ' ms, with answers ' + JSON.stringify(seen))
      resolve()
    }
    const request = get({ host, port: 8080, agent: false, timeout: 2000 }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => { text = text.trim(); seen[text] = (seen[text] ?? 0) + 1; resolve() })
      response.on('error', failed)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', failed)
  })
}
createServer((_, response) => response.end(JSON.stringify({ seen, bad }))).listen(8080)
const pause = () => new Promise((resolve) => setTimeout(resolve, 5))
for (const host of process.argv.slice(2)) (async () => { for (;;) { await ask(host); await pause() } })()
process.on('SIGTERM', () => process.exit(0))
`

/** Ends gracefully: it accepts no new connections and finishes the open ones. */
const serverScript = `
import { createServer } from 'node:http'
const server = createServer((_, response) => response.end(process.env.ANSWER)).listen(8080)
process.on('SIGTERM', () => server.close(() => process.exit(0)))
`

describe('a replaced service without a published port', () => {
  test('loses no request of its neighbours by either of its names over several replacements', async () => {
    const { server } = testEnvironment
    const image = `${testEnvironment.registry.host}/node:1`
    const files = { '/client.mjs': clientScript, '/server.mjs': serverScript }
    const runtime = (await nodeRuntimeFiles()).map(async ({ path, source }) => [path, await readFile(source)] as const)
    await loadImage(image, { files: { ...Object.fromEntries(await Promise.all(runtime)), ...files } })
    const make = (name: string, answer: string, ...args: string[]) => ({
      instanceId: name,
      image,
      localOnly: true,
      config: {
        name,
        environment: [{ key: 'ANSWER', value: answer }],
        // Without it, a container takes over when it runs, which may be before it listens.
        ...(name === 'web' && { healthCheckConfig: { readinessProbe: '/', port: 8080 } }),
        args: ['/bin/node', `/${name === 'web' ? 'server' : 'client'}.mjs`, ...args].map((key) => ({ key })),
      },
    })
    const client = make('client', '', 'web', testEnvironment.name('web'))
    const report = async () =>
      JSON.parse(await testEnvironment.answer('client')) as {
        seen: Record<string, number>
        bad: string[]
      }
    for (const answer of ['v1', 'v2', 'v3', 'v4', 'v5']) {
      const outcome = await server.deployAndWait(
        testEnvironment.release({ drainMs, instances: [make('web', answer), client] }),
      )
      expect(outcome).toMatchObject({ successful: true })
      await waitUntil(`answers of ${answer}`, async () => ((await report()).seen[answer] ?? 0) > 50)
    }
    const { seen, bad } = await report()
    expect(Object.keys(seen)).toEqual(['v1', 'v2', 'v3', 'v4', 'v5'])
    expect(bad).toEqual([])
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('client'), testEnvironment.name('web')])
  })
})
