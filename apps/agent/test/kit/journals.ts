import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Phase, PhaseState, type Release } from '@crux/agent-protocol'
import type { TestEnvironment } from './test-environment.ts'
import { waitUntil } from './wait-until.ts'

interface JournalLine {
  event?: { phase?: { phase: string; state: string } }
  decision?: { position?: string; crashes?: Record<string, number> }
}

/** The whole lines of the agent's own journal of a release; empty when there is none. */
export async function getJournal(
  { dataDir }: Pick<TestEnvironment, 'dataDir'>,
  { key }: Release,
): Promise<JournalLine[]> {
  const path = join(dataDir, '.agent', 'journal', `${key?.deploymentId}.${key?.number}.jsonl`)
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JournalLine]))
}

/** Reads the journal, because the events at the server are a moment late. */
export function phaseReached(
  testEnvironment: Pick<TestEnvironment, 'dataDir'>,
  release: Release,
  phase: Phase,
  state: PhaseState,
): Promise<true> {
  return waitUntil(
    `phase ${phase} ${state}`,
    async () =>
      (await getJournal(testEnvironment, release)).some(
        ({ event }) =>
          event?.phase?.phase === `PHASE_${Phase[phase]}` && event.phase.state === `PHASE_STATE_${PhaseState[state]}`,
      ) || undefined,
  )
}
