import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { createNotifications } from '../../test/notification-kit.ts'

const secret = 'the secret of the example'
let directory: string
let receiver: ChildProcess
let server: TestServer
let output = ''
let command = ''

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-receiver-'))
  const text = await readFile(new URL('../../../../docs/notifications.md', import.meta.url), 'utf8')
  const [, example] = /```js\n([\s\S]*?)```/.exec(text) ?? []
  if (!example) throw new Error('docs/notifications.md has no example of a receiver')
  command = /```sh\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
  const file = join(directory, 'receiver.mjs')
  await writeFile(file, example)
  receiver = spawn(process.execPath, [file], { env: { ...process.env, CRUX_SECRET: secret, PORT: '0' } })
  receiver.stdout?.on('data', (chunk) => {
    output += chunk
  })
  server = await startTestServer()
})
afterAll(async () => {
  receiver.kill()
  await server.stop()
  await rm(directory, { recursive: true })
})

it('the command of the documentation creates a signed webhook when it is pasted', async () => {
  const owner = server.signUp('Grace')
  const team = await server.createTeam(owner)
  const { token } = await server
    .client(owner)
    .call('tokens.create', { body: { name: 'Setup', expirationInDays: 1, scope: 'full' } })
  const env = { PATH: process.env.PATH, CRUX_URL: server.url, TEAM: team.slug, CRUX_TOKEN: token, CRUX_SECRET: secret }
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', command], { env })
  expect(JSON.parse(stdout)).toMatchObject({ name: 'Receiver', type: 'webhook', active: true, hasSecret: true })
})

it('the receiver of the documentation prints signed messages once, and refuses others', async () => {
  const [, port] = await until(() => /listening at (\d+)/.exec(output), 20_000)
  const url = `http://127.0.0.1:${port}/`
  const notifications = createNotifications(await makeDeployTestEnvironment(server))
  const { id } = await notifications.create({ url, secret })
  await notifications.addNode('Rack 7')
  await until(() => output.includes('node-added: Ada added the node Rack 7.\n'), 20_000)
  const forged = await notifications.create({ url, secret: 'another secret altogether' })
  await expect(notifications.test(forged.id)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('401'),
  })
  const unsigned = await fetch(url, { method: 'POST', body: '{}' })
  expect(unsigned.status).toBe(401)
  await notifications.test(id)
  await until(() => output.includes('test: This is a test'))
  expect(output.match(/node-added/g)).toHaveLength(1)
})
