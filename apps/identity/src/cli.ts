import { inspect } from 'node:util'
import { ConfigError, createLogger, parseConfig } from '@crux/service-kit'
import { identitySettings } from './config/config.ts'
import { openIdentityDatabase } from './db/database.ts'
import { migrateIdentity } from './migrate.ts'
import { resetFactors } from './security/reset-factors.ts'

// Maintenance commands of the identity service. `npm run crux -- identity COMMAND` runs them with the settings of the installation, whether Crux is
// running or not.

const usage = `Commands:
  identity reset-factors EMAIL  removes all second factors of a user who lost them, and ends their sessions`

const [command, email, ...rest] = process.argv.slice(2)
try {
  if (command !== 'reset-factors' || email === undefined || rest.length > 0)
    throw new ConfigError('The command', `is none of those that there are.\n\n${usage}`)
  process.stdout.write(`${await reset(email)}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : inspect(error)}\n`)
  process.exitCode = 1
}

async function reset(address: string): Promise<string> {
  const config = parseConfig(identitySettings, process.env)
  await migrateIdentity(config.DATABASE_URL)
  const log = createLogger({ name: 'crux', level: 'error' })
  const database = openIdentityDatabase({ url: config.DATABASE_URL, name: 'crux identity reset-factors', max: 1, log })
  try {
    const sendsMail = Boolean(config.SMTP_URI || config.CRUX_MAILS_DIR)
    const done = await resetFactors({ database, consoleUrl: config.CRUX_URL, sendsMail }, address)
    if (!done) throw new ConfigError(address, 'is nobody here')
    if (done.removed.length === 0) return `${address} has no second factor; nothing was changed`
    const ended = done.sessionsEnded === 1 ? '1 session was' : `${done.sessionsEnded} sessions were`
    return `${done.removed.join(', ')} of ${address} removed; ${ended} ended. The password is enough to sign in now: ask for another one if others may know it`
  } finally {
    await database.close()
  }
}
