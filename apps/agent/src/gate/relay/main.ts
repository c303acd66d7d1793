import { fileURLToPath } from 'node:url'
import { codeOf } from './code.ts'
import { runGate } from './gate.ts'
import { connectPredecessor } from './handover.ts'
import { runInit } from './init.ts'

// The gate's own process: `gate FOLDER`, `gate FOLDER --successor` from a gate that hands over, `gate FOLDER --init` as the first
// process of a container. It ends when it is told to, never because the agent or a terminal did.
process.on('SIGHUP', () => undefined)
process.on('uncaughtException', (error) => process.stderr.write(`${error.stack ?? error}\n`))
process.on('unhandledRejection', (error) => process.stderr.write(`${String(error)}\n`))

const entry = fileURLToPath(import.meta.url)
const [folder, mode] = process.argv.slice(2)
if (!folder) {
  process.stderr.write('usage: gate FOLDER\n')
  process.exit(1)
}
try {
  if (mode === '--init') await runInit(folder, entry)
  else
    await runGate({
      folder,
      code: codeOf(entry),
      predecessor: mode === '--successor' ? connectPredecessor() : undefined,
    })
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
