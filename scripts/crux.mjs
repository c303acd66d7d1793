import { join, resolve } from 'node:path'
import { ensureInstalled, root } from './setup/install.mjs'
import { runUnderNode24 } from './setup/run.mjs'

// `npm run crux -- COMMAND`: maintenance of the installation in the data folder, with the same settings as `npm start`.
ensureInstalled()
const { code } = await runUnderNode24(join(root, 'scripts/crux.ts'), process.argv.slice(2), {
  env: { CRUX_DATA_DIR: resolve(process.env.CRUX_DATA_DIR || join(root, '.crux')) },
})
process.exit(code)
