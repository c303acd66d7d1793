/**
 * Records the answers of a real Ory Kratos to the scenarios, with which kratos.test.ts compares the service:
 *   node test/kratos/record.ts [--check] [--only TEXT] [FOLDER]
 * FOLDER (or KRATOS_ORACLE) contains the script `kratos` that builds and runs Ory Kratos; docs/identity.md describes its configuration. With --check
 * nothing is written: the answers are compared with the recording.
 */
import { parseArgs } from 'node:util'
import { deviations } from './compare.ts'
import { startOracle } from './oracle.ts'
import { type Recording, readRecording, writeRecording } from './recording.ts'
import { watchAll } from './run.ts'
import { scenarios } from './scenarios/all.ts'

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
  allowPositionals: true,
})
const directory = positionals[0] ?? process.env.KRATOS_ORACLE
if (!directory) throw new Error('name the folder of the original: node test/kratos/record.ts FOLDER')

const chosen = Object.fromEntries(Object.entries(scenarios).filter(([name]) => name.includes(values.only)))
const oracle = await startOracle(directory)
const { seen, failures } = await watchAll(oracle, chosen).finally(() => oracle.stop())
for (const [name, error] of failures) console.error(`${name}:`, error)
if (values.check) check(seen)
else if (failures.length === 0) writeRecording(inOrder({ ...(values.only ? readRecording() : {}), ...seen }))
console.log(`${Object.keys(seen).length} scenarios played, ${failures.length} failed`)
if (failures.length > 0) process.exitCode = 1

function check(seen: Recording): void {
  const recorded = readRecording()
  let count = 0
  for (const [name, steps] of Object.entries(seen))
    for (const { path, ...values } of deviations(recorded[name], steps)) {
      count += 1
      console.error(`${name} / ${path}`, values)
    }
  console.log(`${count} answers differ from the recording`)
  if (count > 0) process.exitCode = 1
}

/** In the order of the scenarios, without deleted ones. */
function inOrder(recording: Recording): Recording {
  return Object.fromEntries(
    Object.keys(scenarios).flatMap((name) => (recording[name] ? [[name, recording[name]]] : [])),
  )
}
