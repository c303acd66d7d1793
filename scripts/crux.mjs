import { join, resolve } from 'node:path'
import { ensureInstalled, root } from './setup/install.mjs'
import { runUnderNode24 } from './setup/run.mjs'

// `npm run crux -- COMMAND` maintains the installation in the data directory, with the same settings as `npm start`.
const usage = `Maintains Crux: npm run crux -- COMMAND

  encrypt generate              prints a new key for ENCRYPTION_SECRET_KEY
  encrypt rotate                seals all stored secrets under a new key; Crux has to be stopped
  migrate                       brings the database up to date
  identity reset-factors EMAIL  removes all second factors of a user who lost them, and ends their sessions

The data folder is that of npm start (CRUX_DATA_DIR, .crux in the checkout).`

const command = process.argv.slice(2)
if (!/^(encrypt (generate|rotate)|migrate|identity reset-factors \S+)$/.test(command.join(' '))) {
  const asked = ['help', '--help', '-h'].includes(command[0])
  console[asked ? 'log' : 'error'](usage)
  process.exit(asked ? 0 : 1)
}
ensureInstalled()
const { code } = await runUnderNode24(join(root, 'scripts/crux.ts'), command, {
  env: { CRUX_DATA_DIR: resolve(process.env.CRUX_DATA_DIR || join(root, '.crux')) },
})
process.exit(code)
