import { inspect } from 'node:util'
import { ConfigError } from '@crux/service-kit'
import { readConfig } from './config/index.ts'
import { createCipher, generateKey } from './crypto/index.ts'
import { openServerDatabase } from './db/open-database.ts'
import { migrateServer } from './migrate.ts'
import { resealAll } from './reseal-secrets.ts'

// Maintenance commands of the server; `npm run crux -- COMMAND` runs them with the settings of the installation.

const usage = `Commands:
  encrypt generate  prints a new key for ENCRYPTION_SECRET_KEY
  encrypt rotate    seals all stored secrets under ENCRYPTION_SECRET_KEY; the previous key is ENCRYPTION_DEPRECATED_KEY
  migrate           brings the database up to date`

const commands: Record<string, () => Promise<string>> = {
  'encrypt generate': async () => generateKey(),
  'encrypt rotate': rotate,
  migrate: async () => `migrated to ${(await migrateServer(readConfig(process.env).databaseUrl)) ?? 'nothing'}`,
}

const command = commands[process.argv.slice(2).join(' ')]
try {
  if (!command) throw new ConfigError('The command', `is none of those that there are.\n\n${usage}`)
  process.stdout.write(`${await command()}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : inspect(error)}\n`)
  process.exitCode = 1
}

async function rotate(): Promise<string> {
  const config = readConfig(process.env)
  await migrateServer(config.databaseUrl)
  const database = openServerDatabase({ url: config.databaseUrl, name: 'crux encrypt rotate', max: 1 })
  try {
    const count = await resealAll(database, createCipher(config.encryption))
    return `${count} secrets were encrypted again; the previous key is no longer needed`
  } finally {
    await database.close()
  }
}
