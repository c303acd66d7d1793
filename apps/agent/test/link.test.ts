import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloseReason } from '@crux/agent-protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeServer, spawnAgent, startTestAgent, type TestAgent, waitUntil } from './kit/index.ts'

let server: FakeServer
let agent: TestAgent | undefined
let dataDir: string

beforeEach(async () => {
  server = new FakeServer()
  await server.start()
  dataDir = await mkdtemp(join(tmpdir(), 'crux-agent-'))
})
afterEach(async () => {
  await agent?.dispose()
  agent = undefined
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const storedToken = async (): Promise<{ token: string; next?: string }> =>
  JSON.parse(await readFile(join(dataDir, '.agent', 'token.json'), 'utf8')) as { token: string; next?: string }

describe('the link', () => {
  test('exchanges an install token, stores the connection token with access for its own user only, and connects', async () => {
    agent = await startTestAgent(server, { dataDir, token: server.newInstallToken(), nodeId: 'node-1' })
    const info = await server.waitForLink()
    expect(info).toMatchObject({ nodeId: 'node-1', architecture: 'amd64' })
    expect(info.engineVersion).toMatch(/^Docker \d/)
    expect(info.publicKey).toContain('BEGIN PGP PUBLIC KEY')
    const { token } = await storedToken()
    expect(server.connectionTokens.has(token)).toBe(true)
    expect((await stat(join(dataDir, '.agent', 'token.json'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(dataDir, '.agent', 'secret.key'))).mode & 0o777).toBe(0o600)
  })

  test("reads the install token from the install script's file and removes the file after the exchange", async () => {
    const file = join(dataDir, '.agent', 'install-token')
    await mkdir(join(dataDir, '.agent'), { mode: 0o700 })
    await writeFile(file, `${server.newInstallToken()}\n`, { mode: 0o600 })
    agent = await startTestAgent(server, { dataDir, nodeId: 'node-1' })
    await server.waitForLink()
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(server.connectionTokens.has((await storedToken()).token)).toBe(true)
    await agent.stop()
    // A token that is not needed is removed too: the stored token still applies.
    await writeFile(file, `${server.newInstallToken()}\n`)
    agent = await startTestAgent(server, { dataDir, nodeId: 'node-1' })
    await waitUntil('a second link', () => server.links.length === 2)
    await waitUntil('the file is gone', () =>
      stat(file).then(
        () => undefined,
        () => true,
      ),
    )
  })

  test('removes an install token that the server refuses', async () => {
    const file = join(dataDir, '.agent', 'install-token')
    await mkdir(join(dataDir, '.agent'), { mode: 0o700 })
    await writeFile(file, `crux_${'x'.repeat(43)}\n`)
    agent = await startTestAgent(server, { dataDir, nodeId: 'node-1' })
    expect(await agent.agent.ended).toBe('refused')
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('receives the node of its token from the server', async () => {
    agent = await startTestAgent(server, { dataDir, token: server.newInstallToken() })
    expect(await server.waitForLink()).toMatchObject({ nodeId: server.nodeId })
    await agent.stop()
    agent = await startTestAgent(server, { dataDir })
    expect(await waitUntil('a second link', () => server.links[1])).toMatchObject({ nodeId: server.nodeId })
  })

  test('connects with the stored token when the install token is used up', async () => {
    const token = server.newInstallToken()
    agent = await startTestAgent(server, { dataDir, token, nodeId: 'node-1' })
    await server.waitForLink()
    await agent.stop()
    agent = await startTestAgent(server, { dataDir, token, nodeId: 'node-1' })
    await waitUntil('a second link', () => server.links.length === 2)
  })

  test('reconnects after the server was unavailable', async () => {
    agent = await startTestAgent(server, { dataDir, token: server.newInstallToken() })
    await server.waitForLink()
    await server.stop()
    await server.start()
    await waitUntil('the link is back', () => server.links.length === 2, 5_000)
    expect(server.links).toHaveLength(2)
  })

  test('replaces its token and uses the new one from then on', async () => {
    agent = await startTestAgent(server, { dataDir, token: server.newInstallToken(), nodeId: 'node-1' })
    await server.waitForLink()
    const { token: before } = await storedToken()
    server.pendingTokens.set('crux_rotated', before)
    expect((await server.ask({ case: 'rotateToken', value: { token: 'crux_rotated' } })).case).toBe('done')
    expect(await storedToken()).toMatchObject({ token: 'crux_rotated' })
    expect(server.connectionTokens.has(before)).toBe(false)
    await agent.stop()
    agent = await startTestAgent(server, { dataDir, nodeId: 'node-1' })
    await waitUntil('a link with the new token', () => server.links.length === 2)
  })

  test('ends with exit code 0 and deletes its token when the server refuses it', async () => {
    agent = await startTestAgent(server, { dataDir, token: server.newInstallToken(), nodeId: 'node-1' })
    await server.waitForLink()
    await agent.stop()
    server.connectionTokens.clear()
    const { exited, output } = spawnAgent(server, { dataDir, nodeId: 'node-1' })
    expect(await exited).toEqual({ code: 0, signal: null })
    expect(output()).toContain('the server refused the token')
    await expect(storedToken()).rejects.toThrow('ENOENT')
  })

  test('deletes its token when it is revoked and keeps it when the agent is only shut down', async () => {
    agent = await startTestAgent(server, { dataDir, token: server.newInstallToken(), nodeId: 'node-1' })
    await server.waitForLink()
    server.send({ case: 'closeLink', value: { reason: CloseReason.SHUTDOWN } })
    expect(await agent.agent.ended).toBe('shutdown')
    expect((await storedToken()).token).toMatch(/^crux_/)
    agent = await startTestAgent(server, { dataDir, nodeId: 'node-1' })
    await waitUntil('a second link', () => server.links.length === 2 && server.connected)
    server.send({ case: 'closeLink', value: { reason: CloseReason.TOKEN_REVOKED } })
    expect(await agent.agent.ended).toBe('revoked')
    await expect(storedToken()).rejects.toThrow('ENOENT')
  })

  test('lists the containers of the node', async () => {
    agent = await startTestAgent(server, { dataDir, token: server.newInstallToken() })
    await server.waitForLink()
    expect((await server.ask({ case: 'listContainers', value: {} })).case).toBe('containers')
  })
})
