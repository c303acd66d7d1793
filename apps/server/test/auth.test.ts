import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type RunningServer, startServer } from '../src/start.ts'
import { type AccountsTestEnvironment, startWithAccounts } from './kit/accounts.ts'
import { until } from './kit/index.ts'

let testEnvironment: AccountsTestEnvironment
let server: RunningServer
let makeBrowser: AccountsTestEnvironment['makeBrowser']

beforeAll(async () => {
  testEnvironment = await startWithAccounts()
  server = testEnvironment.server
  makeBrowser = testEnvironment.makeBrowser
})
afterAll(() => testEnvironment?.stop())

describe('signing in through the server', () => {
  const email = 'ada@example.com'
  const password = 'an engine of brass'

  it('registers a user, whose name is then shown everywhere', async () => {
    const browser = makeBrowser()
    const weak = await browser.register(email, 'short')
    expect(weak).toMatchObject({
      status: 400,
      body: { error: 'invalidArgument', value: { ui: { nodes: expect.any(Array) } } },
    })
    expect(weak.body.ui).toEqual((weak.body.value as { ui: unknown }).ui)
    expect((await browser.register(email, password)).status).toBe(200)
    const me = await browser.go('/api/users/me', undefined, 'POST')
    expect(me.body).toMatchObject({ user: { name: 'Ada Byron', email } })
    const team = await browser.go('/api/teams', { name: 'Engines', slug: 'engines' })
    expect(team.status).toBe(201)
    const teams = await browser.go('/api/teams')
    expect(teams.body).toMatchObject([{ users: [{ name: 'Ada Byron', email, role: 'owner' }] }])
    const again = await makeBrowser().register(email, password)
    expect([again.status, JSON.stringify(again.body)]).toEqual([400, expect.stringContaining('4000007')])
  })

  it('shows names of people who have not used this server, through the admin API', async () => {
    const grace = makeBrowser()
    await grace.register('grace@example.com', password)
    const { user } = (await grace.go('/api/users/me', undefined, 'POST')).body as { user: { id: string } }
    const { app, ...fresh } = await startServer(
      { ...server.app.config, port: 0, url: server.url },
      { log: server.app.log },
    )
    const people = await app.identity.people([user.id, 'not-an-id', '01a1fe69-35bc-702a-a798-000000000000'])
    expect([...people.values()]).toEqual([{ id: user.id, name: 'Ada Byron', email: 'grace@example.com' }])
    await fresh.stop()
  })

  it('reports a failed sign-in with the texts of the flow, and 409 to users who are signed in', async () => {
    const browser = makeBrowser()
    const wrong = await browser.login(email, 'wrong password')
    expect(wrong.status).toBe(400)
    expect(wrong.body).toMatchObject({ error: 'invalidArgument', description: expect.stringContaining('password') })
    expect(JSON.stringify((wrong.body.value as { ui: object }).ui)).toContain('4000006')
    const flow = { ...(await browser.begin('login')), method: 'password' }
    expect((await browser.login(email, password)).status).toBe(200)
    const again = await browser.go('/api/auth/login', { ...flow, email, password })
    expect([again.status, again.body]).toMatchObject([409, { error: 'alreadyExists', property: 'session' }])
    const expired = await makeBrowser().go('/api/auth/login', {
      ...flow,
      flow: '01a1fe69-35bc-702a-a798-000000000000',
      email,
      password,
    })
    expect([403, 404]).toContain(expired.status)
  })

  it('signs out: the session ends at once, and so does its live socket', async () => {
    const browser = makeBrowser()
    await browser.login(email, password)
    const headers = { cookie: browser.cookies() }
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api`, {
      headers: { ...headers, origin: server.url },
    })
    const closed = new Promise<number>((resolve) => socket.on('close', resolve))
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
    expect((await fetch(`${server.url}/api/teams`, { headers })).status).toBe(200)
    const { body } = await browser.go('/api/auth/logout', undefined, 'POST')
    expect(body.url).toMatch(`${server.url}/kratos/self-service/logout`)
    await browser.go(String(body.url))
    expect(await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 5_000, 'late'))])).toBe(4401)
    await until(async () => (await fetch(`${server.url}/api/teams`, { headers })).status === 401, 1_000)
    expect((await browser.go('/api/auth/logout', undefined, 'POST')).status).toBe(401)
  })

  it('answers 503 while the identity service is unavailable, and recovers with it', async () => {
    const away = await startServer(
      {
        ...server.app.config,
        port: 0,
        identityPublicUrl: 'http://127.0.0.1:9',
        identityAdminUrl: 'http://127.0.0.1:9',
      },
      { log: server.app.log },
    )
    const at = `http://127.0.0.1:${away.port}`
    const answer = await fetch(`${at}/api/teams`, { headers: { authorization: 'Bearer ory_st_something' } })
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { error: 'serviceUnavailable', property: 'kratos' },
    ])
    expect((await fetch(`${at}/kratos/health/ready`)).status).toBe(503)
    expect(await (await fetch(`${at}/api/status`)).json()).toMatchObject({
      kratos: { status: 'unavailable' },
      crux: { status: 'operational' },
    })
    await away.stop()
  })
})
