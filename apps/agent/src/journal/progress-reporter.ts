import { ContainerState, LogLevel, Phase, PhaseState } from '@crux/agent-protocol'
import { createRedactor } from '../secrets/redaction.ts'
import type { Journal } from './journal.ts'
import { getLastLines } from './last-lines.ts'

/** Reports the progress of a release to the server, through the journal. */
export type ProgressReporter = ReturnType<typeof createProgressReporter>

const progressEveryMs = 500

export function createProgressReporter(journal: Journal, now: () => number = () => performance.now()) {
  const lastProgress = new Map<string, number>()
  const hidden = new Set<string>()
  let redact = createRedactor(hidden)
  const log =
    (level: LogLevel) =>
    (instanceId: string, ...lines: string[]) =>
      journal.append({
        case: 'log',
        value: { instanceId, level, lines: lines.map((line) => redact(line)), fromContainer: false },
      })
  const logStop = (instanceId: string, line: string, of: { silences: string } | { stopped: string }) =>
    journal.append({ case: 'log', value: { instanceId, level: LogLevel.INFO, lines: [redact(line)], ...of } })
  const phase =
    (state: PhaseState) =>
    (instanceId: string, of: Phase, detail = '') =>
      journal.append({ case: 'phase', value: { instanceId, phase: of, state, detail: redact(detail) } })
  return {
    /** Adds values of secrets that an engine error or the last log lines of a container might repeat: from now on, reports redact them. */
    hide(values: readonly string[]) {
      for (const value of values) hidden.add(value)
      redact = createRedactor(hidden)
    },
    info: log(LogLevel.INFO),
    /** Reports that a previous container is being stopped before the new one of its instance starts. */
    silences: (instanceId: string, name: string) =>
      logStop(instanceId, `stopping ${name}, which cannot run beside the new container`, { silences: name }),
    /** Reports that the previous container has stopped: the time that this took is part of the downtime and of the release's phases. */
    stopped: (instanceId: string, name: string, milliseconds: number) =>
      logStop(instanceId, `stopped ${name} in ${(milliseconds / 1_000).toFixed(1)} s`, { stopped: name }),
    warn: log(LogLevel.WARN),
    error: log(LogLevel.ERROR),
    /** Reports lines that a container itself printed: its last lines when it failed. */
    containerLog(instanceId: string, lines: string[], failed = true) {
      const level = failed ? LogLevel.ERROR : LogLevel.INFO
      const shown = getLastLines(lines.map((line) => ({ text: redact(line) }))).map(({ text }) => text)
      journal.append({ case: 'log', value: { instanceId, level, lines: shown, fromContainer: true } })
    },
    waiting: phase(PhaseState.WAITING),
    running: phase(PhaseState.RUNNING),
    done: phase(PhaseState.DONE),
    skipped: phase(PhaseState.SKIPPED),
    failed: phase(PhaseState.FAILED),
    resolved(instanceId: string, digest: string, preparationDigests: Record<string, string>) {
      journal.append({ case: 'resolved', value: { instanceId, digest, preparationDigests } })
    },
    /** Reports at most two updates a second per instance, and always the last one. */
    progress(instanceId: string, progress: { currentBytes: number; totalBytes: number; status: string }) {
      const at = now()
      const last = progress.status.endsWith('complete')
      if (!last && at - (lastProgress.get(instanceId) ?? -progressEveryMs) < progressEveryMs) return
      lastProgress.set(instanceId, at)
      const { currentBytes, totalBytes, status } = progress
      journal.append({
        case: 'progress',
        value: { instanceId, currentBytes: BigInt(currentBytes), totalBytes: BigInt(totalBytes), status },
      })
    },
    state(instanceId: string, state: ContainerState, reason = '') {
      journal.append({ case: 'state', value: { instanceId, state, reason: redact(reason) } })
    },
    /** Reports the end of the release; what an outcome does not name is empty or false. */
    outcome(outcome: {
      successful: boolean
      reason?: string
      instanceId?: string
      previousRestored?: boolean
      cancelled?: boolean
      containerNames?: string[]
    }) {
      journal.append({ case: 'outcome', value: { ...outcome, reason: redact(outcome.reason ?? '') } })
    },
    cleanUpEnd() {
      journal.append({ case: 'cleanUpEnd', value: {} })
    },
  }
}
export { ContainerState, Phase }
