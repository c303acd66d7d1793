import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bootSystem, describeMail, PortTakenError, publicUrl, type System } from '@crux/dev-env'
import { endingWithParent, OwnedError } from '@crux/postgres/embedded'
import { ConfigError, createLogger, isLoopbackHost, isLoopbackUrl, parseConfig } from '@crux/service-kit'
import { type CapturedMail, watchCapturedMails } from '@crux/service-kit/mail'
import { z } from 'zod'
import { BuildError, buildInChild, root } from './build-in-child.ts'

// The part of `npm start` that runs under Node 24, after scripts/start.mjs has installed the dependencies.

const port = (example: number) => z.coerce.number().int().min(0).max(65_535).optional().meta({ example })
const Settings = z.object({
  CRUX_DATA_DIR: z.string(),
  CRUX_HOST: z.string().default('127.0.0.1'),
  CRUX_PORT: port(8000),
  CRUX_URL: z.string().optional(),
  IDENTITY_PUBLIC_PORT: port(4433),
  IDENTITY_ADMIN_PORT: port(4434),
  DATABASE_URL: z.string().optional(),
  SMTP_URI: z.string().optional(),
  CRUX_DEV_PORT: port(5173).default(5173),
  CRUX_RATE_LIMITS: z.enum(['on', 'off']).default('on').meta({ example: 'on' }),
})

const dev = process.argv.includes('--dev')
let stopping = false

try {
  await run()
} catch (error) {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const expected = [ConfigError, OwnedError, PortTakenError, BuildError].some((kind) => error instanceof kind)
  console.error(`\nCrux does not start: ${expected ? message : (stack ?? message)}`)
  process.exit(1)
}

async function run(): Promise<void> {
  const settings = parseConfig(Settings, process.env)
  const docker = process.env.CRUX_START_DOCKER ?? 'not looked for'
  const { CRUX_START_DOCKER: _, ...inherit } = process.env
  const begin = performance.now()
  // Errors in the settings are reported before anything is built.
  const url = publicUrl(settings.CRUX_URL, settings.CRUX_HOST, settings.CRUX_PORT ?? 8000)
  const limited = settings.CRUX_RATE_LIMITS === 'on'
  if (!limited && !(isLoopbackHost(settings.CRUX_HOST) && isLoopbackUrl(url)))
    throw new ConfigError('CRUX_RATE_LIMITS', 'may be off only while CRUX_HOST and CRUX_URL are on loopback', 'on')
  await buildInChild(dev ? ['agent', 'agent-image'] : ['console', 'identity', 'server', 'agent', 'agent-image'])

  const booting = bootSystem({
    dataDir: settings.CRUX_DATA_DIR,
    host: settings.CRUX_HOST,
    port: settings.CRUX_PORT,
    identityPublicPort: settings.IDENTITY_PUBLIC_PORT,
    identityAdminPort: settings.IDENTITY_ADMIN_PORT,
    url: settings.CRUX_URL,
    databaseUrl: settings.DATABASE_URL,
    inherit,
    mode: dev ? 'watch' : 'bundle',
    log: createLogger({ name: 'start', level: 'error' }),
    say: console.log,
  })
  // The handler is registered first: a Ctrl-C during the boot waits for the boot and stops it in order.
  let vite: ChildProcess | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(booting, vite))
  const system = await booting
  if (stopping) return
  if (dev) vite = await startVite(system, settings.CRUX_DEV_PORT)
  if (system.mails) watchCapturedMails(system.mails.directory, (mail) => console.log(mailNote(mail)))
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  console.log(
    block(system, {
      docker,
      mail: describeMail(settings.SMTP_URI, system),
      limited,
      seconds,
      console: dev ? `http://localhost:${settings.CRUX_DEV_PORT}` : system.url,
    }),
  )
}

async function stop(booting: Promise<System>, vite: ChildProcess | undefined): Promise<void> {
  if (stopping) process.exit(130)
  stopping = true
  console.log('\nStopping Crux; containers keep running ...')
  vite?.kill('SIGTERM')
  const system = await booting.catch(() => undefined)
  await system?.stop()
  process.exit(0)
}

type Words = { docker: string; mail: string; limited: boolean; seconds: string; console: string }

function block(system: System, words: Words): string {
  const limits = '  Limits    OFF (CRUX_RATE_LIMITS): passwords, codes and tokens can be guessed without end\n'
  return `
  Crux is ready (${words.seconds} s)

  Console   ${words.console}
  Data      ${system.dataDir}
  Mail      ${words.mail}
  Docker    ${words.docker}
${words.limited ? '' : limits}
  Ctrl-C stops Crux; containers keep running.
`
}

/** Formats a captured mail for the terminal, because the operator has to pass it on. */
function mailNote({ to, subject, text }: CapturedMail): string {
  const lines = text.trim().split('\n')
  return [`\n  Mail to ${to}: ${subject}`, ...lines.map((line) => `  | ${line}`.trimEnd()), ''].join('\n')
}

async function startVite(system: System, devPort: number): Promise<ChildProcess> {
  const bin = join(root, 'node_modules/vite/bin/vite.js')
  const args = [bin, '--host', '127.0.0.1', '--port', String(devPort), '--strictPort', '--clearScreen', 'false']
  const [command = '', ...rest] = endingWithParent('TERM', [process.execPath, ...args])
  const child = spawn(command, rest, {
    cwd: join(root, 'apps/console'),
    env: { ...process.env, CRUX_URL: system.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout?.pipe(process.stdout)
  await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')])
  if (child.exitCode !== null)
    throw new BuildError(
      `the development server of the console does not start, see above; CRUX_DEV_PORT gives it another port than ${devPort}`,
    )
  return child
}
