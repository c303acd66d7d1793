import { join, resolve } from 'node:path'
import { ensureDocker } from './setup/docker.mjs'
import { ensureInstalled, root } from './setup/install.mjs'
import { runUnderNode24 } from './setup/run.mjs'

// `npm run bench` prints ratios against the bare engine, the bare database and a bare server. Arguments select benchmarks by name.
ensureInstalled()
const docker = await ensureDocker(resolve(process.env.CRUX_DATA_DIR || join(root, '.crux')))
if (!docker.startsWith('ready')) console.log(`Docker: ${docker}`)
const built = await runUnderNode24(join(root, 'scripts/build-all.ts'), [])
if (built.code !== 0) process.exit(built.code)
const { code } = await runUnderNode24(join(root, 'bench/src/main.ts'), process.argv.slice(2))
process.exit(code)
