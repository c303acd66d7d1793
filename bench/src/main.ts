import { mkdir, writeFile } from 'node:fs/promises'
import { consoleSize } from './console-size.ts'
import { containerList } from './container-list.ts'
import { firstDeploys, noFailedRequest, portSilence } from './deploys.ts'
import { gateSpeed } from './gate.ts'
import { identity } from './identity.ts'
import { idle } from './idle.ts'
import { bareServer, deploymentList } from './lists.ts'
import { eventLatency, followLog } from './live.ts'
import { downloadLog } from './log-download.ts'
import { Report } from './measure.ts'
import { merge } from './merge.ts'
import { redeploys } from './redeploys.ts'
import { type Stage, setStage } from './stage.ts'
import { agentBack, idleLink, memory } from './standing.ts'

/**
 * Prints each measurement of the product beside its target, with both sides of a ratio interleaved in one run. `npm run bench -- NAME ...`
 * runs those whose name contains one of the arguments; `--quick` runs fewer rounds.
 */
const quick = process.argv.includes('--quick')
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('-'))
const rounds = (full: number) => (quick ? Math.max(3, Math.floor(full / 3)) : full)

/** Measurements that need nothing but the code. */
const alone: Record<string, (report: Report) => Promise<void> | void> = {
  'console-size': (report) => consoleSize(report),
  'container-list': (report) => containerList(report, rounds(100)),
  merge: (report) => merge(report, rounds(100)),
  'idle-cpu idle-memory': (report) => idle(report, 60),
}
const benches: Record<string, (stage: Stage, report: Report) => Promise<void> | void> = {
  memory: (stage, report) => memory(stage, report),
  'idle-link': (stage, report) => idleLink(stage, report, quick ? 35 : 90),
  'one-image': (stage, report) =>
    firstDeploys(stage, report, { images: 1, rounds: rounds(15), target: 1.1, targetOnNetwork: 1.08 }),
  'ten-images': (stage, report) =>
    firstDeploys(stage, report, { images: 10, rounds: rounds(7), target: 0.65, targetOnNetwork: 0.65 }),
  'redeploy-one': (stage, report) => redeploys(stage, report, { images: 1, rounds: rounds(11), target: 1.15 }),
  'redeploy-ten': (stage, report) => redeploys(stage, report, { images: 10, rounds: rounds(7), target: 0.7 }),
  'port-silence': (stage, report) => portSilence(stage, report, { rounds: rounds(11), pullFirst: false }),
  'port-silence-pull': (stage, report) => portSilence(stage, report, { rounds: rounds(9), pullFirst: true }),
  'no-failed-request': (stage, report) => noFailedRequest(stage, report, rounds(12)),
  gate: (stage, report) => gateSpeed(stage, report, rounds(15)),
  events: (stage, report) => eventLatency(stage, report, rounds(20)),
  log: (stage, report) => followLog(stage, report, rounds(5)),
  'log-download': (stage, report) => downloadLog(stage, report, rounds(5)),
  'agent-back': (stage, report) => agentBack(stage, report, rounds(5)),
  'deployment-list': (stage, report) => deploymentList(stage, report),
  identity: (stage, report) => identity(stage, report, rounds(20)),
  'bare-server': (stage, report) => bareServer(stage, report),
}

const report = new Report()
const chosen = <T>(table: Record<string, T>) =>
  Object.entries(table).filter(([name]) => wanted.length === 0 || wanted.some((word) => name.includes(word)))
const measure = async (name: string, run: () => Promise<void> | void) => {
  try {
    await run()
  } catch (error) {
    report.failed(name, error)
  }
}
for (const [name, run] of chosen(alone)) await measure(name, () => run(report))
const staged = chosen(benches)
if (staged.length > 0) {
  const stage = await setStage()
  try {
    for (const [name, run] of staged) await measure(name, () => run(stage, report))
  } finally {
    await stage.end()
  }
}
const results = new URL('../results/', import.meta.url)
await mkdir(results, { recursive: true })
await writeFile(
  new URL(`${new Date().toISOString().replace(/[:.]/g, '-')}.json`, results),
  `${JSON.stringify(report.rows, null, 2)}\n`,
)
const missed = report.rows.filter((row) => row.met === false)
process.stdout.write(
  `\n${report.rows.length - missed.length} of ${report.rows.length} within their targets${missed.length > 0 ? `; missed: ${missed.map((row) => row.name).join('; ')}` : ''}\n`,
)
