import { execFile } from 'node:child_process'
import { request } from 'node:https'
import {
  createDeployment,
  createService,
  createTestEnvironment,
  deploy,
  freePort,
  idle,
  raw,
  removeContainers,
  signUp,
  startRegistry,
  type TestEnvironment,
  unique,
  waitFor,
  web,
} from '@crux/test-kit'
import { type Browser, test as base, expect } from '@playwright/test'
import { WebSocket } from 'ws'
import { signIn } from '../kit/console.ts'
import { getStatus, newNode } from '../kit/node.ts'
import { answers } from '../kit/service.ts'
import { startSystem, type TestSystem } from '../kit/test-system.ts'
import { needsProxy, nginxIdleMs, type ProxyName, prepareProxy, type TlsProxy } from '../kit/tls-proxy.ts'

type Behind = TestSystem & { url: string; proxy: TlsProxy; agentContainers: string[] }

const test = base.extend<{ proxyName: ProxyName; behind: Behind }>({
  proxyName: ['nginx', { option: true }],
  behind: async ({ proxyName }, use) => {
    const [port, cruxPort] = [await freePort(), await freePort()]
    const url = `https://localhost:${port}`
    const proxy = prepareProxy(proxyName, port, cruxPort)
    await proxy.start()
    const registry = await startRegistry()
    const system = await startSystem({
      url,
      port: cruxPort,
      env: { TRUSTED_PROXIES: '127.0.0.1', NODE_EXTRA_CA_CERTS: proxy.caFile },
    })
    // The test uses the port directly; agent and browser know only the proxy.
    const testEnvironment = await createTestEnvironment(await signUp(`http://127.0.0.1:${cruxPort}`), registry)
    const agentContainers: string[] = []
    await use({ system, registry, testEnvironment, url, proxy, agentContainers })
    for (const id of agentContainers) await raw.remove(id)
    await system.stop()
    await removeContainers(`dev.crux.team=${testEnvironment.teamId}`)
    await system.destroy()
    await registry.remove()
    await proxy.remove()
  },
})

test.describe('nginx', () => {
  test.use({ proxyName: 'nginx' })
  needsProxy('nginx')

  test('agents, streams and WebSockets behind nginx outlive its timeouts, and agent and console work over TLS', async ({
    behind,
    browser,
  }) => {
    test.setTimeout(240_000)
    const { testEnvironment, url } = behind
    expect(await getStatus(testEnvironment, testEnvironment.nodeId)).toBe('connected')
    const installed = await installInContainer(behind)
    const quiet = await deployQuietService({ ...testEnvironment, nodeId: installed.nodeId })
    const live = await openLive(behind, installed.nodeId, quiet)
    const since = Date.now()
    const linksBefore = await getLinks(testEnvironment)

    await consoleWorks(behind, browser)
    await addressesAreTheProxys(behind)
    await test.step('another host is refused, whatever else a client claims', async () => {
      const answer = await ask(behind, '/api/teams', {
        host: 'evil.example',
        'x-forwarded-host': new URL(url).host,
        authorization: `Bearer ${testEnvironment.user.sessionToken}`,
      })
      expect(answer.status).toBe(421)
    })

    await test.step('nothing was said for longer than nginx waits, and nothing was cut', async () => {
      const longest = Math.max(...Object.values(nginxIdleMs))
      await waitFor('longer than the timeouts', () => Date.now() - since > longest + 10_000, {
        timeoutMs: longest + 20_000,
        everyMs: 500,
      })
      expect(live.closed()).toBe(false)
      expect(live.errors()).toEqual([])
      expect(await getLinks(testEnvironment)).toEqual(linksBefore)
      for (const nodeId of [testEnvironment.nodeId, installed.nodeId])
        expect(await getStatus(testEnvironment, nodeId)).toBe('connected')
    })
    await test.step('the streams that were quiet still carry what happens', async () => {
      await raw.stop(quiet.id)
      await waitFor('the stop is reported', () => live.messages().some((text) => text.includes('"exited"')))
      await waitFor('its last line arrives', () => live.messages().some((text) => text.includes('the last line')))
    })
    await test.step('an agent finds its way back through a proxy that was restarted', async () => {
      await behind.proxy.stop()
      await waitFor('unreachable', async () => (await getStatus(testEnvironment, installed.nodeId)) === 'unreachable')
      await behind.proxy.start()
      await waitFor('connected', async () => (await getStatus(testEnvironment, installed.nodeId)) === 'connected')
    })
  })
})

test.describe('Caddy', () => {
  test.use({ proxyName: 'caddy' })
  needsProxy('caddy')

  test('agent, streams and console behind Caddy work over TLS', async ({ behind, browser }) => {
    test.setTimeout(180_000)
    const { testEnvironment } = behind
    expect(await getStatus(testEnvironment, testEnvironment.nodeId)).toBe('connected')
    const quiet = await deployQuietService(testEnvironment)
    const live = await openLive(behind, testEnvironment.nodeId, quiet)
    await consoleWorks(behind, browser)
    await addressesAreTheProxys(behind)
    const misdirected = await ask(behind, '/api/teams', { host: 'evil.example', 'x-forwarded-host': 'localhost' })
    expect([misdirected.status, misdirected.body]).toEqual([200, ''])
    await raw.stop(quiet.id)
    await waitFor('the stop is reported', () => live.messages().some((text) => text.includes('"exited"')))
    await waitFor('its last line arrives', () => live.messages().some((text) => text.includes('the last line')))
  })
})

/** Runs the install command of the page of the node, with the authority of the test as described in docs/proxy.md. */
async function installInContainer({
  testEnvironment,
  proxy,
  system,
  agentContainers,
}: Behind): Promise<{ nodeId: string }> {
  const { nodeId, command } = await newNode(testEnvironment)
  const line = command.replace('curl -fsSL', `curl -fsSL --cacert '${proxy.caFile}'`)
  const env = { ...process.env, CRUX_CA_FILE: proxy.caFile, PERSISTENCE_FOLDER: `${system.dataDir}/installed` }
  const output = await new Promise<string>((resolve, reject) => {
    execFile('sh', ['-c', line], { timeout: 120_000, env }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout),
    )
  })
  const name = /runs as (\S+),/.exec(output)?.[1]
  const mine = (await raw.list('dev.crux.service-category=_internal')).find(({ Names }) => Names[0] === `/${name}`)
  if (!mine) throw new Error(`no container of the agent: ${output}`)
  agentContainers.push(mine.Id)
  await waitFor(
    'the installed agent is connected',
    async () => (await getStatus(testEnvironment, nodeId)) === 'connected',
    {
      timeoutMs: 60_000,
      everyMs: 200,
    },
  )
  return { nodeId }
}

type Quiet = { prefix: string; name: string; id: string }

/** A service that answers, and one that logs a line at its start, another one at its end, and nothing between. */
async function deployQuietService(testEnvironment: TestEnvironment): Promise<Quiet> {
  const port = await freePort()
  const prefix = unique('tls')
  const last = {
    cmd: ['/bin/sh', '-c', "trap 'echo the last line; exit 0' TERM; echo ready; while :; do sleep 3600 & wait; done"],
  }
  const service = await createService(testEnvironment, [
    {
      name: unique('app/web-'),
      tag: '1',
      image: web('over TLS'),
      config: { name: 'web', ports: [{ internal: 8080, external: port }] },
    },
    { name: unique('app/quiet-'), tag: '1', image: { ...idle(), ...last }, config: { name: 'quiet' } },
  ])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  const result = await deploy(testEnvironment, deployment.id)
  expect(result.status, result.outcome).toBe('successful')
  await answers(port, 'over TLS')
  const found = (await raw.list(`dev.crux.prefix=${prefix}`)).find(({ Names }) => Names[0]?.endsWith('-quiet'))
  return { prefix, name: 'quiet', id: found?.Id ?? '' }
}

/** A WebSocket through the proxy that watches the containers of a node and follows a log, both of which are then idle. */
async function openLive({ testEnvironment, url, proxy }: Behind, nodeId: string, quiet: Quiet) {
  const socket = new WebSocket(`${url.replace('https', 'wss')}/api`, {
    ca: proxy.ca,
    headers: testEnvironment.user.headers(),
  })
  const messages: string[] = []
  let closed = false
  socket.on('message', (text) => messages.push(String(text)))
  socket.on('close', () => {
    closed = true
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const path = `/${testEnvironment.teamSlug}/nodes/${nodeId}`
  const send = (type: string, data: object) => socket.send(JSON.stringify({ type, data }))
  send('subscribe', { path })
  await waitFor('subscribed', () => messages.some((text) => text.includes('"subbed"')))
  send(`${path}/watch-containers-state`, { prefix: quiet.prefix })
  send(`${path}/watch-container-log`, { container: { prefix: quiet.prefix, name: quiet.name }, take: 100, batch: true })
  await waitFor('both streams have said what there is', () =>
    ['containers-state-list', '"ready"'].every((part) => messages.some((text) => text.includes(part))),
  )
  return {
    messages: () => messages,
    errors: () => messages.filter((text) => /"type":"[^"]*error"/.test(text)),
    closed: () => closed,
  }
}

/** The connections and disconnections of agents per node: a link that was cut and restored would add two. */
async function getLinks(testEnvironment: TestEnvironment): Promise<string[]> {
  const params = { teamSlug: testEnvironment.teamSlug }
  const nodes = await testEnvironment.user.client.call('nodes.list', { params })
  const query = { skip: 0, take: 100, from: new Date(0).toISOString(), to: new Date(Date.now() + 60_000).toISOString() }
  const logs = await Promise.all(
    nodes.map(({ id }) =>
      testEnvironment.user.client.call('nodes.audit', { params: { ...params, nodeId: id }, query }),
    ),
  )
  return logs.map(({ items }) => items.map(({ event }) => event).join(' '))
}

/** The user signs in at the address of the proxy, sees their node, and has no cookie that would be sent without TLS. */
async function consoleWorks({ testEnvironment, url }: Behind, browser: Browser): Promise<void> {
  await test.step('the console works over https, with cookies that never leave in plain text', async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    const page = await context.newPage()
    const failed: string[] = []
    page.on('response', (response) => {
      if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`)
    })
    await signIn(page, url, testEnvironment.user)
    const [socket] = await Promise.all([
      page.waitForEvent('websocket', (one) => one.url().startsWith('wss://')),
      page.goto(`${url}/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}`),
    ])
    await expect(page.getByText('Connected', { exact: true }).first()).toBeVisible()
    const cookies = await context.cookies(url)
    expect(cookies.map(({ name }) => name)).toContain('ory_kratos_session')
    expect(cookies.filter(({ secure }) => !secure)).toEqual([])
    expect(cookies.find(({ name }) => name === 'ory_kratos_session')).toMatchObject({ httpOnly: true, sameSite: 'Lax' })
    expect(socket.isClosed()).toBe(false)
    expect(failed.filter((line) => !line.startsWith('401'))).toEqual([])
    await context.close()
  })
}

/** A client forges its address and host; the session has the address from which the client connected. */
async function addressesAreTheProxys(behind: Behind): Promise<void> {
  await test.step('the address of a session is the one that the proxy saw', async () => {
    const { email, password } = behind.testEnvironment.user
    const claims = { 'x-forwarded-for': '203.0.113.66', 'x-forwarded-host': 'evil.example' }
    const { body } = await ask(behind, '/kratos/self-service/login/api', claims)
    const flow = (JSON.parse(body) as { id: string }).id
    const signedIn = await ask(
      behind,
      `/kratos/self-service/login?flow=${flow}`,
      { ...claims, 'content-type': 'application/json', accept: 'application/json' },
      JSON.stringify({ method: 'password', identifier: email, password }),
    )
    const { session } = JSON.parse(signedIn.body) as { session: { id: string } }
    const { identityAdminUrl, identityAdminToken } = behind.system
    const stored = await fetch(`${identityAdminUrl}/admin/sessions/${session.id}?expand=devices`, {
      headers: { authorization: `Bearer ${identityAdminToken}` },
    })
    const { devices } = (await stored.json()) as { devices: { ip_address: string }[] }
    expect(devices.map((device) => device.ip_address)).toEqual([clientAddress])
  })
}

/** A loopback address that is not the address of the proxy itself. */
const clientAddress = '127.0.0.2'

function ask({ url, proxy }: Behind, path: string, headers: Record<string, string>, body?: string) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const options = {
      ca: proxy.ca,
      hostname,
      port,
      path,
      headers,
      localAddress: clientAddress,
      family: 4,
      agent: false,
    }
    const call = request(
      { ...options, method: body === undefined ? 'GET' : 'POST', servername: hostname },
      (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += String(chunk)))
        answer.on('end', () => resolve({ status: answer.statusCode, body: text }))
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}
