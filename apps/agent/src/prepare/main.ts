import { readFile, writeFile } from 'node:fs/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { guarded } from '@crux/service-kit'
import { getMessage } from '../errors.ts'
import { createRedactor } from '../secrets/redaction.ts'
import { listCredentials, orderDirectory, orderFile, PreparationOrder } from './order.ts'
import { prepareVolumes } from './prepare-volumes.ts'

// Prepares the volumes of a pod, as its first init container: the engine shows what this process writes to the termination log.

const terminationLog = '/dev/termination-log'
const terminationBytesMax = 4_000

const stopping = new AbortController()
process.once(
  'SIGTERM',
  guarded('a signal', () => stopping.abort(new Error('the pod was stopped'))),
)
// The group of the pod has the rights of the owner.
process.umask(0o002)

let redact = (text: string) => text
const report = (line: string) => void process.stdout.write(`${redact(line)}\n`)

try {
  const order = PreparationOrder.parse(JSON.parse(await readFile(`${orderDirectory}/${orderFile}`, 'utf8')))
  redact = createRedactor(listCredentials(order))
  if (order.authority) setDefaultCACertificates([...getCACertificates('default'), order.authority])
  const release = process.env.CRUX_RELEASE ?? ''
  const done = await prepareVolumes(order, { release, signal: stopping.signal, report })
  for (const line of done) report(line)
  await end(done.join('\n'))
} catch (error) {
  const reason = redact(getMessage(error))
  report(reason)
  await end(reason)
  process.exitCode = 1
}

async function end(text: string): Promise<void> {
  const bytes = Buffer.from(redact(text)).subarray(0, terminationBytesMax)
  await writeFile(terminationLog, bytes.toString('utf8')).catch((error: unknown) =>
    report(`the termination log cannot be written: ${getMessage(error)}`),
  )
}
