import { mkdtempSync, readlinkSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, removeEmbedded, waitUntil } from '@crux/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../src/files.ts'
import { freePort, listProcesses, type NpmProcess, queryDatabase, runNpm } from './npm-process.ts'

// Tests `npm run dev`. A source counts as changed when it is written with the same text, so other tests see no difference.

const dataDir = mkdtempSync(join(tmpdir(), 'dev-'))
let dev: NpmProcess
let port: number
let devPort: number

beforeAll(async () => {
  const [crux, vite, identity, admin] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  port = crux
  devPort = vite
  dev = await runNpm(['run', 'dev', '--', '--no-docker'], {
    ...process.env,
    CRUX_DATA_DIR: dataDir,
    CRUX_PORT: String(port),
    CRUX_DEV_PORT: String(devPort),
    IDENTITY_PUBLIC_PORT: String(identity),
    IDENTITY_ADMIN_PORT: String(admin),
  })
})
afterAll(async () => {
  dev?.npm.kill('SIGTERM')
  await waitUntil(() => listProcesses(dataDir).length === 0, 30_000)
  for (const { pid } of listProcesses(dataDir)) process.kill(pid, 'SIGKILL')
  removeEmbedded({ dataDir })
  rmSync(dataDir, { recursive: true, force: true })
})

/** A process that ended after it was listed has no directory any more. */
const getWorkingDirectory = (pid: number) => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}
const write = (path: string) => utimesSync(join(root, path), new Date(), new Date())
const get = async (path: string) => {
  const answer = await fetch(`http://127.0.0.1:${devPort}${path}`, { headers: { accept: 'text/html,*/*' } })
  return { status: answer.status, text: await answer.text() }
}
/** The service itself, which is the child of the process that watches its sources. */
const servicePid = (name: 'server' | 'identity') =>
  listProcesses(dataDir).find(
    ({ pid, what }) =>
      /src\/main\.ts/.test(what) && !/--watch( |$)/.test(what) && getWorkingDirectory(pid).endsWith(`apps/${name}`),
  )?.pid

test('npm run dev serves the console from its sources on its port, and forwards the API', async () => {
  expect(dev.output()).toContain(`Console   http://localhost:${devPort}`)
  const page = await get('/')
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('/@vite/client')])
  const entry = /src="(\/src\/[^"]+)"/.exec(page.text)?.[1] ?? 'no source in the page'
  expect(await get(entry)).toMatchObject({ status: 200, text: expect.stringContaining('import') })
  expect((await get('/api/health')).status).toBe(200)
  expect((await get('/api/teams')).status).toBe(401)
})

test.each(['server', 'identity'] as const)(
  'npm run dev restarts the %s when one of its sources is written',
  async (name) => {
    const before = servicePid(name)
    expect(before, `${name} runs`).toBeDefined()
    await queryDatabase(dataDir, `create table if not exists kept as select 42 as n`)
    write(`apps/${name}/src/main.ts`)
    expect(await waitUntil(() => ![undefined, before].includes(servicePid(name)), 30_000), 'another process').toBe(true)
    expect(isAlive(before ?? 0)).toBe(false)
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status, { timeout: 60_000 })
      .toBe(200)
    expect(await queryDatabase(dataDir, 'select n from kept')).toBe('[{"n":42}]')
  },
  120_000,
)

test('npm run dev notifies open pages when a source of the console is written', async () => {
  const client = (await get('/@vite/client')).text
  const token = /wsToken = "([^"]+)"/.exec(client)?.[1]
  await get('/src/main.tsx')
  const heard: string[] = []
  const socket = new WebSocket(`ws://127.0.0.1:${devPort}/?token=${token}`, 'vite-hmr')
  socket.addEventListener('message', ({ data }) => heard.push(String(data)))
  await waitUntil(() => heard.some((text) => text.includes('connected')), 20_000)
  write('apps/console/src/main.tsx')
  await waitUntil(() => heard.some((text) => /"type":"(update|full-reload)"/.test(text)), 20_000)
  socket.close()
  expect(heard.join('\n')).toMatch(/"type":"(update|full-reload)"/)
})

test('npm run dev ends with Ctrl-C, and leaves no process and no open port', async () => {
  expect(listProcesses(dataDir).length).toBeGreaterThan(4)
  dev.pressCtrlC()
  await dev.ended
  await waitUntil(() => listProcesses(dataDir).length === 0, 30_000)
  expect(listProcesses(dataDir)).toEqual([])
  expect(dev.output()).toContain('Stopping Crux; containers keep running')
  expect(dev.output()).not.toMatch(/^\s+at .*\(/m)
  for (const closed of [port, devPort]) await expect(fetch(`http://127.0.0.1:${closed}/`)).rejects.toThrow()
})
