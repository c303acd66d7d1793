import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '@crux/postgres'
import { createLogger } from '@crux/service-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serverDatabase, startTestServer, testConfig, until } from '../../test/kit/index.ts'
import { AgentProcess, engineAnswers } from './local-agent-process.ts'

const log = createLogger({ name: 'test', level: 'fatal' })
const withEngine = test.skipIf(!(await engineAnswers()))
let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'crux-local-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const wanted = { isWanted: async () => true, changed: () => undefined }
const getPid = (nodeId: string): number | undefined => {
  try {
    return (JSON.parse(readFileSync(join(dataDir, 'agents', nodeId, 'process.json'), 'utf8')) as { pid: number }).pid
  } catch {
    return undefined
  }
}

withEngine(
  'a local agent installs itself, ends with the server and restarts with it',
  async () => {
    const database = await serverDatabase()
    const first = await startTestServer({ database, config: { dataDir } })
    const admin = first.signUp()
    const team = await first.createTeam(admin)
    const client = first.client(admin)
    const { id } = await client.call('nodes.create', {
      params: { teamSlug: team.slug },
      body: { name: 'this machine' },
    })
    const params = { teamSlug: team.slug, nodeId: id }
    expect((await client.call('nodes.get', { params })).localAgent).toEqual({
      available: true,
      reason: null,
      running: false,
      loopbackOnly: true,
      lastEnd: null,
    })
    await client.call('nodes.start-local-agent', { params })
    await expect(client.call('nodes.start-local-agent', { params })).rejects.toMatchObject({ status: 409 })
    const node = await until(async () => {
      const found = await client.call('nodes.get', { params })
      return found.status === 'connected' && found
    }, 30_000)
    expect(node).toMatchObject({ hasToken: true, install: null, localAgent: { running: true } })
    expect(Array.isArray(await client.call('containers.list', { params: { ...params, prefix: '_' } }))).toBe(true)

    const pid = getPid(id)
    await first.stop({ database: true })
    expect(pid && isAlive(pid)).toBe(false)
    const second = await startTestServer({ database, config: { dataDir }, people: first.people })
    const again = second.client(admin)
    await until(async () => (await again.call('nodes.get', { params })).status === 'connected', 30_000)
    const newPid = getPid(id)
    // At another port the agent does not use its stored token, and gets a new one.
    expect(second.url).not.toBe(first.url)
    // After kill -9 of the agent it is started again.
    process.kill(newPid ?? 0, 'SIGKILL')
    await until(() => {
      const now = getPid(id)
      return now && now !== newPid && isAlive(now)
    }, 30_000)
    await until(async () => (await again.call('nodes.get', { params })).status === 'connected', 30_000)
    await again.call('nodes.revoke-token', { params })
    await until(async () => !(await again.call('nodes.get', { params })).localAgent.running)
    expect(getPid(id)).toBeUndefined()
    await second.stop()
  },
  120_000,
)

test('a server that was killed leaves its agent running, and the next server supervises it without a second one', async () => {
  const nodeId = 'n1'
  const command = `${process.execPath} ${join(dataDir, 'sleeper.mjs')}`
  writeFileSync(join(dataDir, 'sleeper.mjs'), 'setInterval(() => {}, 1000)\n')
  const config = testConfig('postgresql://unused/x', { dataDir, localAgentCommand: command })
  const module = new URL('./local-agent-process.ts', import.meta.url).href
  const supervisor = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { AgentProcess } = await import(${JSON.stringify(module)})
       const log = { info() {}, warn() {}, error() {} }
       new AgentProcess({ config: ${JSON.stringify(config)}, nodeId: 'n1', log, token: async () => undefined, isWanted: async () => true, changed() {} })
       setInterval(() => {}, 1000)`,
    ],
    { stdio: 'inherit' },
  )
  const pid = await until(() => getPid(nodeId), 30_000)
  const gone = new Promise((resolve) => supervisor.once('exit', resolve))
  supervisor.kill('SIGKILL')
  await gone
  expect(isAlive(pid)).toBe(true)

  const next = new AgentProcess({ ...wanted, config, nodeId, log, token: async () => undefined })
  expect(next.running).toBe(true)
  expect(getPid(nodeId)).toBe(pid)
  process.kill(pid, 'SIGKILL')
  const restarted = await until(() => {
    const now = getPid(nodeId)
    return now === pid ? undefined : now
  }, 30_000)
  expect(isAlive(restarted)).toBe(true)
  await next.stop()
  expect(isAlive(restarted)).toBe(false)
})

/** A command that counts its starts in a file and ends at once with exit code 0. */
function endingCommand(): { command: string; starts: () => number } {
  const counter = join(dataDir, 'starts')
  const script = join(dataDir, 'ends.mjs')
  writeFileSync(script, `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(counter)}, '.')\n`)
  return {
    command: `${process.execPath} ${script}`,
    starts: () => (existsSync(counter) ? readFileSync(counter, 'utf8').length : 0),
  }
}

test('an agent that ends with exit code 0 at every start is started again, after growing delays', async () => {
  const { command, starts } = endingCommand()
  const config = testConfig('postgresql://unused/x', { dataDir, localAgentCommand: command })
  const pauses: number[] = []
  let agent: AgentProcess | undefined
  const changed = () => {
    const { at, nextStartAt } = agent?.lastEnd ?? {}
    if (at && nextStartAt) pauses.push(nextStartAt.getTime() - at.getTime())
  }
  agent = new AgentProcess({ ...wanted, config, nodeId: 'n2', log, token: async () => undefined, changed })
  await until(() => starts() >= 5, 60_000)
  expect(agent.running).toBe(true)
  expect(pauses.slice(0, 4)).toEqual([100, 1_000, 2_000, 4_000])
  const end = await until(() => agent?.lastEnd)
  expect(end.reason).toBe('exit code 0')
  expect(end.since.getTime()).toBeLessThan(end.at.getTime())
  await agent.stop()
})

test('an agent whose node was deleted is not started again', async () => {
  const { command, starts } = endingCommand()
  const config = testConfig('postgresql://unused/x', { dataDir, localAgentCommand: command })
  let exists = true
  const agent = new AgentProcess({
    ...wanted,
    config,
    nodeId: 'n4',
    log,
    token: async () => undefined,
    isWanted: async () => exists,
  })
  await until(() => starts() === 1, 30_000)
  exists = false
  await until(() => !agent.running, 30_000)
  const last = starts()
  await agent.stop()
  expect(starts()).toBe(last)
})

withEngine(
  'the page of a node shows since when its local agent fails, why, and when it starts next',
  async () => {
    const { command, starts } = endingCommand()
    const server = await startTestServer({ config: { dataDir, localAgentCommand: command } })
    const admin = server.signUp()
    const team = await server.createTeam(admin)
    const client = server.client(admin)
    const { id } = await client.call('nodes.create', {
      params: { teamSlug: team.slug },
      body: { name: 'this machine' },
    })
    const params = { teamSlug: team.slug, nodeId: id }
    expect((await client.call('nodes.get', { params })).localAgent.lastEnd).toBeNull()
    await client.call('nodes.start-local-agent', { params })
    await until(() => starts() >= 4, 60_000)
    const { running, lastEnd } = await until(async () => {
      const { localAgent } = await client.call('nodes.get', { params })
      return localAgent.lastEnd?.nextStartAt ? localAgent : undefined
    })
    expect(running).toBe(true)
    expect(lastEnd).toMatchObject({ reason: 'exit code 0' })
    expect(Date.parse(lastEnd?.since ?? '')).toBeLessThan(Date.parse(lastEnd?.at ?? ''))
    expect(Date.parse(lastEnd?.nextStartAt ?? '')).toBeGreaterThan(Date.parse(lastEnd?.at ?? ''))
    await client.call('nodes.delete', { params })
    const last = starts()
    await server.stop()
    expect(starts()).toBe(last)
  },
  90_000,
)

test("the agent gets the environment variables that it needs, and none of the server's secrets", async () => {
  writeFileSync(
    join(dataDir, 'tell.mjs'),
    `import { writeFileSync } from 'node:fs'
     writeFileSync(${JSON.stringify(join(dataDir, 'env.json'))}, JSON.stringify(process.env))
     setInterval(() => {}, 1000)\n`,
  )
  process.env.ENCRYPTION_SECRET_KEY = 'of the server'
  const config = testConfig('postgresql://secret/x', {
    dataDir,
    url: 'http://localhost:4711',
    localAgentCommand: `${process.execPath} ${join(dataDir, 'tell.mjs')}`,
  })
  const agent = new AgentProcess({ ...wanted, config, nodeId: 'n3', log, token: async () => 'crux_t' })
  const env = await until(() => {
    try {
      return JSON.parse(readFileSync(join(dataDir, 'env.json'), 'utf8')) as Record<string, string>
    } catch {
      return undefined
    }
  })
  await agent.stop()
  delete process.env.ENCRYPTION_SECRET_KEY
  expect(env).toMatchObject({ CRUX_URL: 'http://localhost:4711', CRUX_NODE_ID: 'n3' })
  const tokenFile = join(dataDir, 'agents', 'n3', '.agent', 'install-token')
  expect([readFileSync(tokenFile, 'utf8'), statSync(tokenFile).mode & 0o777]).toEqual(['crux_t\n', 0o600])
  expect(env).toHaveProperty('CRUX_DATA_DIR', join(dataDir, 'agents', 'n3'))
  expect(JSON.stringify(env)).not.toMatch(/crux_t|of the server|secret\/x|DATABASE_URL/)
})
