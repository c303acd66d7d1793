import { join } from 'node:path'
import { connectGate } from '../../src/gate/client.ts'
import type { GateHello } from '../../src/gate/relay/protocol.ts'
import { waitUntil } from './wait-until.ts'

const folderOf = (dataDir: string) => join(dataDir, '.agent', 'gate')

/** What the gate of an agent's data folder says of itself; undefined when none runs. */
export async function lookAtGate(dataDir: string): Promise<GateHello | undefined> {
  const gate = await connectGate(folderOf(dataDir))
  try {
    const answer = await gate?.ask({ kind: 'hello' })
    return answer?.ok ? answer.hello : undefined
  } catch {
    return undefined
  } finally {
    gate?.close()
  }
}

/** A gate outlives its agent on purpose: a test that is over ends it. */
export async function stopGate(dataDir: string): Promise<void> {
  const gate = await connectGate(folderOf(dataDir))
  if (!gate) return
  await gate.ask({ kind: 'stop' }).catch(() => undefined)
  gate.close()
  await waitUntil('the gate has ended', async () => !(await connectGate(folderOf(dataDir))))
}
