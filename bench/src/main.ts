import { mkdir, writeFile } from 'node:fs/promises'
import { agentBack, idleLink, memory } from './agent-at-rest.ts'
import { composeConvert } from './compose-convert.ts'
import { composeImport } from './compose-import.ts'
import { consoleSize } from './console-size.ts'
import { containerList } from './container-list.ts'
import { dashboard } from './dashboard.ts'
import { firstDeploys, noFailedRequest, portSilence } from './deploys.ts'
import { gateSpeed } from './gate.ts'
import { identity } from './identity.ts'
import { idle } from './idle.ts'
import { podEventLatency } from './kubernetes-events.ts'
import { failureReasons } from './kubernetes-failures.ts'
import { kubernetesLog } from './kubernetes-log.ts'
import { kubernetesReleases } from './kubernetes-releases.ts'
import { firstClusterList, watchedCluster } from './large-cluster.ts'
import { bareServer, deploymentList } from './lists.ts'
import { downloadLog, eventLatency, followLog } from './live.ts'
import { Report } from './measure.ts'
import { merge } from './merge.ts'
import { notifications } from './notifications.ts'
import { redeploys } from './redeploys.ts'
import { firstTags, followedChecks, hookToRelease, paintedTags } from './registries.ts'
import { startTestSystem, type TestSystem } from './test-system.ts'

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
  'compose-convert': (report) => composeConvert(report, rounds(30)),
  'idle-cpu idle-memory': (report) => idle(report, 60),
  'cluster-release-one': (report) => kubernetesReleases(report, { containers: 1, rounds: rounds(11) }),
  'cluster-release-ten': (report) => kubernetesReleases(report, { containers: 10, rounds: rounds(7) }),
  'cluster-failures': (report) => failureReasons(report, rounds(5)),
  'cluster-log': (report) => kubernetesLog(report, rounds(5)),
  'cluster-memory': (report) => watchedCluster(report),
  'cluster-list': (report) => firstClusterList(report, rounds(7)),
}
const benches: Record<string, (testSystem: TestSystem, report: Report) => Promise<void> | void> = {
  memory: (testSystem, report) => memory(testSystem, report),
  'idle-link': (testSystem, report) => idleLink(testSystem, report, quick ? 35 : 90),
  'one-image': (testSystem, report) =>
    firstDeploys(testSystem, report, { images: 1, rounds: rounds(50), target: 1.1, targetOnNetwork: 1.08 }),
  'ten-images': (testSystem, report) =>
    firstDeploys(testSystem, report, { images: 10, rounds: rounds(7), target: 0.65, targetOnNetwork: 0.65 }),
  'redeploy-one': (testSystem, report) =>
    redeploys(testSystem, report, { images: 1, rounds: rounds(11), target: 1.15 }),
  'redeploy-ten': (testSystem, report) => redeploys(testSystem, report, { images: 10, rounds: rounds(7), target: 0.7 }),
  'port-silence': (testSystem, report) => portSilence(testSystem, report, { rounds: rounds(11), pullFirst: false }),
  'port-silence-pull': (testSystem, report) => portSilence(testSystem, report, { rounds: rounds(9), pullFirst: true }),
  'no-failed-request': (testSystem, report) => noFailedRequest(testSystem, report, rounds(12)),
  gate: (testSystem, report) => gateSpeed(testSystem, report, rounds(15)),
  events: (testSystem, report) => eventLatency(testSystem, report, rounds(20)),
  'cluster-events': (testSystem, report) => podEventLatency(testSystem, report, rounds(20)),
  log: (testSystem, report) => followLog(testSystem, report, rounds(5)),
  'log-download': (testSystem, report) => downloadLog(testSystem, report, rounds(5)),
  'agent-back': (testSystem, report) => agentBack(testSystem, report, rounds(5)),
  'deployment-list': (testSystem, report) => deploymentList(testSystem, report),
  dashboard: (testSystem, report) => dashboard(testSystem, report, rounds(30)),
  'first-tags': (testSystem, report) => firstTags(testSystem, report, rounds(60)),
  'painted-tags': (testSystem, report) => paintedTags(testSystem, report, rounds(30)),
  'digest-checks': (testSystem, report) => followedChecks(testSystem, report, quick ? 60 : 180),
  'hook-to-release': (testSystem, report) => hookToRelease(testSystem, report, rounds(20)),
  notifications: (testSystem, report) => notifications(testSystem, report),
  'compose-import': (testSystem, report) => composeImport(testSystem, report, rounds(9)),
  identity: (testSystem, report) => identity(testSystem, report, rounds(20)),
  'bare-server': (testSystem, report) => bareServer(testSystem, report),
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
  const testSystem = await startTestSystem()
  try {
    for (const [name, run] of staged) await measure(name, () => run(testSystem, report))
  } finally {
    await testSystem.end()
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
