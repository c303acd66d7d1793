import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { getCode } from './code.ts'
import { reachGate } from './control.ts'
import { RunningGate } from './gate.ts'
import { connectPredecessor } from './handover.ts'
import { runParent } from './parent.ts'
import { findProcess, roleFlags } from './pid-files.ts'
import { Relay } from './relay.ts'
import { report } from './report.ts'

// The gate's own process: `gate DIRECTORY`, `gate DIRECTORY --successor` from a gate that hands over, `gate DIRECTORY --parent` to keep one
// running, which is the first process of a gate's container. It ends only on a command, never because the agent or a terminal ended.
process.on('SIGHUP', () => undefined)
process.on('uncaughtException', (error) => process.stderr.write(`${error.stack ?? error}\n`))
process.on('unhandledRejection', (error) => process.stderr.write(`${String(error)}\n`))

const entry = fileURLToPath(import.meta.url)
const [directory, mode] = process.argv.slice(2)
if (!directory) {
  process.stderr.write('usage: gate DIRECTORY\n')
  process.exit(1)
}
try {
  const code = getCode(entry)
  if (mode === roleFlags.parent) await runParent(directory, code, entry)
  const predecessor = mode === roleFlags.successor ? connectPredecessor() : undefined
  // The parent of an earlier version did not see the other gate in time.
  if (!predecessor && typeof (await reachGate(directory)) !== 'string') process.exit(0)
  const gate = await RunningGate.start({
    directory,
    code,
    relay: new Relay(),
    predecessor,
    onDrained: () => process.exit(0),
  })
  process.on('SIGTERM', () => gate.end())
} catch (error) {
  report(error)
  // The previous gate was the parent, which takes the role for a moment after an end, and was killed: no other process starts the next one.
  if (mode === roleFlags.successor && !process.connected && findProcess(directory, 'parent') === undefined)
    spawn(process.execPath, [entry, directory, roleFlags.parent], {
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
    }).unref()
  process.exit(1)
}
