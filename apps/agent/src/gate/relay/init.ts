import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const againMs = 200

/**
 * The first process of a gate's container. Successors are started by their predecessors and outlive them, so it does not wait for a
 * process but for a pipe that each of them inherits: its end means that none is left, and then it starts one again.
 */
export async function runInit(folder: string, builtIn: string): Promise<never> {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
  for (;;) {
    const child = spawn(process.execPath, [latestEntry(folder) ?? builtIn, folder], {
      env: { ...process.env, CRUX_GATE_LIFELINE: '3' },
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    })
    child.on('error', (error) => process.stderr.write(`${error.message}\n`))
    const lifeline = child.stdio[3]
    if (lifeline && 'resume' in lifeline) {
      lifeline.resume()
      await new Promise((resolve) => lifeline.once('close', resolve))
    }
    await delay(againMs)
  }
}

/** The agent leaves the name of the code that it handed over to last: a newer one than this container's image may have. */
function latestEntry(folder: string): string | undefined {
  try {
    const entry = join(folder, readFileSync(join(folder, 'entry'), 'utf8').trim())
    return existsSync(entry) ? entry : undefined
  } catch {
    return undefined
  }
}
