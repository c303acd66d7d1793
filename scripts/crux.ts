import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openInstallation } from '@crux/dev-env'
import { createLogger, parseConfig } from '@crux/service-kit'
import { z } from 'zod'
import { root } from './build.ts'

// The part of `npm run crux` that runs under Node 24: hands the command to the server's own command line.

const Settings = z.object({ CRUX_DATA_DIR: z.string(), DATABASE_URL: z.string().optional() })

try {
  const settings = parseConfig(Settings, process.env)
  const installation = await openInstallation({
    dataDir: settings.CRUX_DATA_DIR,
    databaseUrl: settings.DATABASE_URL,
    inherit: process.env,
    log: createLogger({ name: 'crux', level: 'error' }),
  })
  const child = spawn(process.execPath, ['src/cli.ts', ...process.argv.slice(2)], {
    cwd: join(root, 'apps/server'),
    env: installation.env,
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  await installation.close()
  process.exitCode = code ?? 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
