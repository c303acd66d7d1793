import { join, resolve } from 'node:path'
import { ensureDocker } from './setup/docker.mjs'
import { readFlags } from './setup/flags.mjs'
import { ensureInstalled, root } from './setup/install.mjs'
import { runUnderNode24 } from './setup/run.mjs'

const usage = `Starts Crux: npm start -- [flags]

  --host HOST        where to listen (CRUX_HOST, 127.0.0.1)
  --port PORT        on which port (CRUX_PORT, 8000)
  --data-dir FOLDER  everything that lasts (CRUX_DATA_DIR, .crux)
  --no-docker        neither look for a Docker engine nor install one

Variables besides: CRUX_URL, IDENTITY_PUBLIC_PORT, IDENTITY_ADMIN_PORT, SMTP_URI, FROM_EMAIL, FROM_NAME, DATABASE_URL,
DISABLE_TEAM_CREATION, DISABLE_REGISTRATION, AUDIT_RETENTION_DAYS, EVENT_RETENTION_DAYS, CRUX_RATE_LIMITS, and those of docs/settings.md.`

const flags = readFlags(
  {
    host: { type: 'string' },
    port: { type: 'string' },
    'data-dir': { type: 'string' },
    'no-docker': { type: 'boolean' },
    dev: { type: 'boolean' },
  },
  usage,
)
const dataDir = resolve(flags['data-dir'] ?? (process.env.CRUX_DATA_DIR || join(root, '.crux')))
ensureInstalled()
const docker = flags['no-docker'] ? 'not looked for (--no-docker)' : await ensureDocker(dataDir)
const { code, words } = await runUnderNode24(join(root, 'scripts/start.ts'), flags.dev ? ['--dev'] : [], {
  env: {
    CRUX_DATA_DIR: dataDir,
    CRUX_START_DOCKER: docker,
    ...(flags.host ? { CRUX_HOST: flags.host } : {}),
    ...(flags.port ? { CRUX_PORT: flags.port } : {}),
  },
})
if (words) console.error(`Crux ${words}`)
process.exit(code)
