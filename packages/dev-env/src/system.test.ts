import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '@crux/postgres'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootSystem, openInstallation, type System } from './index.ts'
import { choosePort } from './ports.ts'

const log = createLogger({ name: 'test', level: 'silent' })
const makeDirectory = () => mkdtempSync(join(tmpdir(), 'system-'))
const free = { port: 0, identityPublicPort: 0, identityAdminPort: 0, durable: false, log }

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health/ready`).catch(() => undefined)
  await response?.body?.cancel()
  return response?.ok ?? false
}

describe('bootSystem', () => {
  let system: System
  beforeAll(async () => {
    system = await bootSystem({ dataDir: makeDirectory(), ...free })
  })
  afterAll(() => system?.destroy())

  test('answers at the address of the console, with secrets that only their owner can read', async () => {
    expect(await isReady(system.url)).toBe(true)
    for (const name of ['crux-secret', 'encryption-key', 'identity-admin-token', 'database-url', 'postgres-password']) {
      expect(statSync(join(system.dataDir, 'secrets', name)).mode & 0o777, name).toBe(0o600)
    }
    expect(readFileSync(join(system.dataDir, 'secrets/encryption-key'), 'utf8')).toHaveLength(43)
    expect(existsSync(join(system.dataDir, 'logs/server.log'))).toBe(true)
  })

  test('creates no file that another user of the machine can read, at any location of the data directory', () => {
    const readable = (directory: string): string[] =>
      readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
        const path = join(directory, entry.name)
        const { mode } = lstatSync(path)
        if (entry.isDirectory()) return (mode & 0o005) === 0 ? [] : readable(path)
        return entry.isFile() && (mode & 0o077) !== 0 ? [path] : []
      })
    expect(existsSync(join(system.dataDir, 'run/server.json'))).toBe(true)
    expect(readable(system.dataDir)).toEqual([])
  })

  test('keeps secrets out of the environment of the processes', () => {
    const secrets = ['crux-secret', 'encryption-key', 'identity-admin-token', 'postgres-password'].map((name) =>
      readFileSync(join(system.dataDir, 'secrets', name), 'utf8').trim(),
    )
    for (const name of ['server', 'identity'] as const) {
      const environment = readFileSync(`/proc/${system.pid(name)}/environ`, 'utf8')
      expect(
        secrets.filter((secret) => environment.includes(secret)),
        name,
      ).toEqual([])
    }
  })

  test('refuses a second start in the same data directory with an error that names the first one', async () => {
    await expect(bootSystem({ dataDir: system.dataDir, ...free })).rejects.toThrow(`in use by process ${process.pid}`)
    expect(await isReady(system.url)).toBe(true)
  })

  test('allows maintenance beside the running system, on its database', async () => {
    const installation = await openInstallation({ dataDir: system.dataDir, inherit: {}, log })
    expect(readFileSync(installation.env.DATABASE_URL_FILE ?? '', 'utf8')).toBe(system.databaseUrl)
    await installation.close()
    expect(await isReady(system.url)).toBe(true)
  })

  test.each(['server', 'identity', 'postgres'] as const)(
    'restarts %s after kill -9',
    { timeout: 60_000 },
    async (name) => {
      const before = system.pid(name)
      await system.kill(name, 'SIGKILL')
      await expect.poll(() => system.pid(name), { timeout: 45_000 }).not.toBe(undefined)
      expect(system.pid(name)).not.toBe(before)
      await expect.poll(() => isReady(system.url), { timeout: 45_000 }).toBe(true)
      await expect.poll(() => isReady(system.identityPublicUrl), { timeout: 45_000 }).toBe(true)
    },
  )

  test('ends all of its processes when it stops, and starts again with the same secrets, now over TLS', {
    timeout: 60_000,
  }, async () => {
    const pids = (['server', 'identity', 'postgres'] as const).map((name) => system.pid(name) as number)
    const token = system.identityAdminToken
    await system.stop()
    expect(pids.filter(isAlive)).toEqual([])
    system = await bootSystem({ dataDir: system.dataDir, ...free, env: makeCertificate(system.dataDir) })
    expect(system.identityAdminToken).toBe(token)
    expect(system.url).toBe(`https://localhost:${system.port}`)
  })
})

test('replaces a supervisor that was killed, even while its server hangs and holds its port', {
  timeout: 90_000,
}, async () => {
  const dataDir = makeDirectory()
  const code = `
    const { bootSystem } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
    const { createLogger } = await import('@crux/service-kit')
    const free = ${JSON.stringify({ ...free, log: undefined })}
    const system = await bootSystem({ dataDir: ${JSON.stringify(dataDir)}, ...free, log: createLogger({ name: 'x', level: 'silent' }) })
    console.log(JSON.stringify([system.port, system.pid('server')]))
    setInterval(() => {}, 1000)`
  const supervisor = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: import.meta.dirname,
  })
  const [line] = (await once(supervisor.stdout, 'data')) as [Buffer]
  const [port, server] = JSON.parse(line.toString()) as [number, number]
  process.kill(server, 'SIGSTOP')
  const exited = once(supervisor, 'exit')
  supervisor.kill('SIGKILL')
  await exited
  expect(isAlive(server)).toBe(true)
  const system = await bootSystem({ dataDir, ...free, port })
  expect(isAlive(server)).toBe(false)
  expect(system.port).toBe(port)
  expect(await isReady(system.url)).toBe(true)
  await system.destroy()
})

describe('bootSystem before it starts processes', () => {
  test('refuses to listen for other machines without a public address', async () => {
    await expect(bootSystem({ dataDir: makeDirectory(), ...free, host: '0.0.0.0' })).rejects.toThrow(
      /^CRUX_URL is required while CRUX_HOST is 0\.0\.0\.0/,
    )
  })

  test('reports the end of the log when a process cannot start, and leaves no process running', {
    timeout: 60_000,
  }, async () => {
    const dataDir = makeDirectory()
    const boot = bootSystem({
      dataDir,
      ...free,
      databaseUrl: 'postgres://nobody@127.0.0.1:1/x',
      env: { SMTP_URI: 'nonsense' },
    })
    await expect(boot).rejects.toThrow(/(does not start|is not ready)[\s\S]*SMTP_URI/)
    expect(existsSync(join(dataDir, 'run/identity.json'))).toBe(false)
    expect(existsSync(join(dataDir, 'owner'))).toBe(false)
  })
})

describe('choosePort', () => {
  test('replaces a default that is in use at the first start, reports it, and treats it as requested from then on', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const fallback = (taken.address() as { port: number }).port
    const dataDir = makeDirectory()
    const said: string[] = []
    const wish = { variable: 'CRUX_PORT', asked: undefined, fallback, host: '127.0.0.1' } as const
    const port = await choosePort(dataDir, wish, (words) => said.push(words))
    expect(port).not.toBe(fallback)
    expect(said).toEqual([`Port ${fallback} is taken, so CRUX_PORT is ${port} from now on.`])
    expect(await choosePort(dataDir, wish, (words) => said.push(words))).toBe(port)
    const squatter = createServer()
    await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve))
    await expect(choosePort(dataDir, wish, () => undefined)).rejects.toThrow(`CRUX_PORT ${port} is already in use`)
    await expect(choosePort(dataDir, { ...wish, asked: fallback }, () => undefined)).rejects.toThrow(
      `CRUX_PORT ${fallback} is already in use`,
    )
    for (const server of [taken, squatter]) await new Promise((resolve) => server.close(resolve))
  })
})

/** The certificate is for another name than the one by which the machine reaches itself. */
function makeCertificate(directory: string): NodeJS.ProcessEnv {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const made = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=crux.example.com'
  execFileSync('openssl', [...made.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { CRUX_TLS_CERT_FILE: cert, CRUX_TLS_KEY_FILE: key }
}
