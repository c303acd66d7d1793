import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '@crux/postgres'
import { createLogger } from '@crux/service-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serverDatabase, startTestServer, testConfig, until } from '../../test/kit/index.ts'
import { agentDataDir, engineAnswers, runAgentProcess } from './local-agent-process.ts'

const log = createLogger({ name: 'test', level: 'fatal' })
const withEngine = test.skipIf(!(await engineAnswers()))
let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'crux-local-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const pidOf = (nodeId: string): number | undefined => {
  try {
    return (JSON.parse(readFileSync(join(dataDir, 'agents', nodeId, 'process.json'), 'utf8')) as { pid: number }).pid
  } catch {
    return undefined
  }
}

withEngine(
  'use this machine: an agent of this server installs itself, ends with the server and comes back with it',
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
    })
    await client.call('nodes.start-local-agent', { params })
    await expect(client.call('nodes.start-local-agent', { params })).rejects.toMatchObject({ status: 409 })
    const node = await until(async () => {
      const found = await client.call('nodes.get', { params })
      return found.status === 'connected' && found
    }, 30_000)
    expect(node).toMatchObject({ hasToken: true, install: null, localAgent: { running: true } })
    expect(Array.isArray(await client.call('containers.list', { params: { ...params, prefix: '_' } }))).toBe(true)

    const pid = pidOf(id)
    await first.stop({ database: true })
    expect(pid && isAlive(pid)).toBe(false)
    const second = await startTestServer({ database, config: { dataDir }, people: first.people })
    const again = second.client(admin)
    await until(async () => (await again.call('nodes.get', { params })).status === 'connected', 30_000)
    const newPid = pidOf(id)
    // At another port, where the agent does not show its stored token: it was given a new one.
    expect(second.url).not.toBe(first.url)
    // kill -9 of the agent: it is started again.
    process.kill(newPid ?? 0, 'SIGKILL')
    await until(() => {
      const now = pidOf(id)
      return now && now !== newPid && isAlive(now)
    }, 30_000)
    await until(async () => (await again.call('nodes.get', { params })).status === 'connected', 30_000)
    await again.call('nodes.revoke-token', { params })
    await until(async () => !(await again.call('nodes.get', { params })).localAgent.running)
    expect(pidOf(id)).toBeUndefined()
    await second.stop()
  },
  120_000,
)

test('a server that was killed leaves its agent running, and the next one goes on with it: never two', async () => {
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
      `const { runAgentProcess } = await import(${JSON.stringify(module)})
       const log = { info() {}, warn() {}, error() {} }
       runAgentProcess({ config: ${JSON.stringify(config)}, nodeId: 'n1', log, token: async () => undefined, ended() {} })
       setInterval(() => {}, 1000)`,
    ],
    { stdio: 'inherit' },
  )
  const pid = await until(() => pidOf(nodeId), 30_000)
  const gone = new Promise((resolve) => supervisor.once('exit', resolve))
  supervisor.kill('SIGKILL')
  await gone
  expect(isAlive(pid)).toBe(true)

  const next = runAgentProcess({ config, nodeId, log, token: async () => undefined, ended: () => undefined })
  expect(next.running).toBe(true)
  expect(pidOf(nodeId)).toBe(pid)
  process.kill(pid, 'SIGKILL')
  const restarted = await until(() => {
    const now = pidOf(nodeId)
    return now === pid ? undefined : now
  }, 30_000)
  expect(isAlive(restarted)).toBe(true)
  await next.stop()
  expect(isAlive(restarted)).toBe(false)
}, 90_000)

test('an agent that is refused at every start is not started for ever', async () => {
  writeFileSync(join(dataDir, 'refused.mjs'), 'process.exit(0)\n')
  const config = testConfig('postgresql://unused/x', {
    dataDir,
    localAgentCommand: `${process.execPath} ${join(dataDir, 'refused.mjs')}`,
  })
  const ended = Promise.withResolvers<void>()
  const agent = runAgentProcess({ config, nodeId: 'n2', log, token: async () => undefined, ended: ended.resolve })
  await ended.promise
  expect(agent.running).toBe(false)
  expect(agentDataDir(config, 'n2')).toBe(join(dataDir, 'agents', 'n2'))
})

test("the agent gets what it needs of the environment, and none of the server's secrets", async () => {
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
  const agent = runAgentProcess({ config, nodeId: 'n3', log, token: async () => 'crux_t', ended: () => undefined })
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
