import { join, resolve } from 'node:path'
import { ensureDocker } from './setup/docker.mjs'
import { ensureInstalled, root } from './setup/install.mjs'
import { runUnderNode24 } from './setup/run.mjs'

// `npm run chaos` kills parts of a running system and compares the stored data with the acknowledged writes.
ensureInstalled()
const docker = await ensureDocker(resolve(process.env.CRUX_DATA_DIR || join(root, '.crux')))
if (!docker.startsWith('ready')) console.log(`Docker: ${docker}`)
const built = await runUnderNode24(join(root, 'scripts/build-all.ts'), [])
if (built.code !== 0) process.exit(built.code)
const { code } = await runUnderNode24(join(root, 'e2e/chaos.ts'), process.argv.slice(2))
process.exit(code)
