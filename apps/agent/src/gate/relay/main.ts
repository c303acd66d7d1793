import { fileURLToPath } from 'node:url'
import { codeOf } from './code.ts'
import { runGate } from './gate.ts'
import { connectPredecessor } from './handover.ts'
import { runParent } from './parent.ts'
import { parentFlag } from './parent-pid.ts'

// The gate's own process: `gate FOLDER`, `gate FOLDER --successor` from a gate that hands over, `gate FOLDER --parent` to keep one running,
// which is the first process of a gate's container. It ends when it is told to, never because the agent or a terminal did.
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
  if (mode === parentFlag) await runParent(folder, entry)
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
