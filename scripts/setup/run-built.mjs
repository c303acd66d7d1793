import { join, resolve } from 'node:path'
import { ensureDocker } from './docker.mjs'
import { ensureInstalled, root } from './install.mjs'
import { runUnderNode24 } from './run.mjs'

/** Runs a script of the checkout on the built applications with the arguments of this process, and ends with its exit code. */
export async function runBuilt(script) {
  ensureInstalled()
  const docker = await ensureDocker(resolve(process.env.CRUX_DATA_DIR || join(root, '.crux')))
  if (!docker.startsWith('ready')) console.log(`Docker: ${docker}`)
  const built = await runUnderNode24(join(root, 'scripts/build-all.ts'), [])
  if (built.code !== 0) process.exit(built.code)
  const { code } = await runUnderNode24(join(root, script), process.argv.slice(2))
  process.exit(code)
}
