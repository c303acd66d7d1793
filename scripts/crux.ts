import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openInstallation, renewEncryptionKey } from '@crux/dev-env'
import { createLogger, parseConfig } from '@crux/service-kit'
import { z } from 'zod'
import { root } from './build-in-child.ts'

// The part of `npm run crux` that runs under Node 24. It passes the command to the command line of the responsible service.

const text = z.string().optional()
const Settings = z.object({
  CRUX_DATA_DIR: z.string(),
  CRUX_HOST: text,
  CRUX_PORT: text,
  CRUX_URL: text,
  IDENTITY_PUBLIC_PORT: text,
  IDENTITY_ADMIN_PORT: text,
  DATABASE_URL: text,
})

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function run(args: string[]): Promise<number> {
  // A key is needed before an installation exists.
  if (args.join(' ') === 'encrypt generate') return runCli(args, process.env)
  const settings = parseConfig(Settings, process.env)
  const options = {
    dataDir: settings.CRUX_DATA_DIR,
    databaseUrl: settings.DATABASE_URL,
    // All X_FILE settings are read already.
    inherit: { ...process.env, ...settings },
    log: createLogger({ name: 'crux', level: 'error' }),
  }
  // A rotation creates the new key itself if the key is in the data directory.
  const ownKey = process.env.ENCRYPTION_SECRET_KEY || process.env.ENCRYPTION_SECRET_KEY_FILE
  const renewing = args.join(' ') === 'encrypt rotate' && !ownKey && existsSync(join(settings.CRUX_DATA_DIR, 'secrets'))
  const renewal = renewing ? renewEncryptionKey(settings.CRUX_DATA_DIR) : undefined
  try {
    const installation = await openInstallation(options)
    const code = await runCli(args, installation.env)
    await installation.close()
    if (code === 0) renewal?.done()
    return code
  } finally {
    renewal?.release()
  }
}

async function runCli(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [first, ...others] = args
  const [app, command] = first === 'identity' ? ['apps/identity', others] : ['apps/server', args]
  const child = spawn(process.execPath, ['src/cli.ts', ...command], {
    cwd: join(root, app),
    env,
    stdio: 'inherit',
  })
  const [code]: (number | null)[] = await once(child, 'exit')
  return code ?? 1
}
