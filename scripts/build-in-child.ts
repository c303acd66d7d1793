import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endingWithParent } from '@crux/postgres/embedded'

export const root = fileURLToPath(new URL('..', import.meta.url))

export type Part = 'console' | 'identity' | 'server' | 'agent' | 'agent-image'

/** A part that cannot be built; the message contains the output of the tool. */
export class BuildError extends Error {
  override name = 'BuildError'
}

/**
 * Builds missing or outdated parts in a separate process, because a supervisor that runs for months must not keep the memory of the bundler.
 *
 * @throws BuildError
 */
export async function buildInChild(parts: readonly Part[]): Promise<void> {
  const [command = '', ...args] = endingWithParent('TERM', [
    process.execPath,
    join(root, 'scripts/build-all.ts'),
    ...parts,
  ])
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'pipe'] })
  let words = ''
  child.stderr.on('data', (chunk: Buffer) => {
    words += String(chunk)
  })
  const [code, signal]: (number | string | null)[] = await once(child, 'close')
  if (code !== 0) throw new BuildError(words.trim() || `the build ended with ${signal ?? `exit code ${code}`}`)
  process.stderr.write(words)
}
