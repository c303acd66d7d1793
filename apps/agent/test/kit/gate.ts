import { join } from 'node:path'
import { connectGate, GateGone } from '../../src/engines/docker/gate/client.ts'
import { findProcess } from '../../src/engines/docker/gate/relay/pid-files.ts'
import type { GateAnswer, GateHello, GateRequest } from '../../src/engines/docker/gate/relay/protocol.ts'
import { waitUntil } from './wait-until.ts'

/** @returns undefined when no gate runs in the directory. Repeats the request if the gate hands over or ends in the meantime. */
export async function askGate(directory: string, request: GateRequest): Promise<GateAnswer | undefined> {
  for (;;) {
    const gate = await connectGate(directory)
    try {
      return await gate?.ask(request)
    } catch (error) {
      if (!(error instanceof GateGone)) throw error
    } finally {
      gate?.close()
    }
  }
}

const getDirectory = (dataDir: string) => join(dataDir, '.agent', 'gate')

/** The state that the gate of an agent's data directory reports; undefined when none runs. */
export async function lookAtGate(dataDir: string): Promise<GateHello | undefined> {
  const answer = await askGate(getDirectory(dataDir), { kind: 'hello' })
  return answer?.ok ? answer.hello : undefined
}

/** A gate outlives its agent on purpose, so a test ends it. */
export async function stopGate(dataDir: string): Promise<void> {
  await askGate(getDirectory(dataDir), { kind: 'stop' })
  await waitUntil('the gate and its parent have ended', async () => {
    const hasParent = findProcess(getDirectory(dataDir), 'parent') !== undefined
    return !hasParent && !(await connectGate(getDirectory(dataDir)))
  })
}
