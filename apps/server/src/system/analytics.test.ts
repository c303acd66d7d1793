import { afterEach, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

let server: TestServer | undefined
afterEach(() => server?.stop())

const analytics = { key: 'phc_some', host: 'https://analytics.example.com' }

async function ask(config: object) {
  server = await startTestServer({ config })
  const ada = server.signUp()
  const { headers } = await server.request('/health')
  return {
    statistics: await server.client(ada).call('quality-assurance.get'),
    connections: /connect-src ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1] ?? '',
    anonymous: (await server.request('/api/quality-assurance')).status,
  }
}

it('usage statistics are disabled and no other host is allowed without a key', async () => {
  const { statistics, connections } = await ask({})
  expect(statistics).toEqual({ disabled: true })
  expect(connections).toMatch(/^'self' ws:\/\/[^ ]+$/)
})

it('usage statistics with a key name the host and the key to users, and the pages may connect to the host', async () => {
  const { statistics, connections, anonymous } = await ask({ analytics })
  expect(statistics).toEqual({ disabled: false, ...analytics })
  expect(connections.split(' ')).toContain(analytics.host)
  expect(anonymous).toBe(401)
})
