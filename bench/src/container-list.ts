import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { engine, idle, loadImage, raw, unique } from '@crux/test-kit'
import { FakeServer, spawnAgent } from '../../apps/agent/test/kit/index.ts'
import { rssMb } from './agent-at-rest.ts'
import { interleave, median, type Report, timed } from './measure.ts'

const bundle = fileURLToPath(new URL('../../apps/agent/dist/bundle/agent.mjs', import.meta.url))
const lists = 1_000
/** The options that the server and the agent's image use for the agent. */
const asShipped = { nodeOptions: ['--max-semi-space-size=1', '--optimize-for-size'], env: { MALLOC_ARENA_MAX: '1' } }
const image = 'bench-container-list:1'

/**
 * A list of 50 running containers at the agent, from the command on the link to its answer, against the engine's own list call; then the
 * agent's memory after 1,000 lists of 200. The agent is the bundle, its server the plain one of its tests.
 */
export async function containerList(report: Report, rounds: number): Promise<void> {
  if (!existsSync(bundle)) throw new Error('the agent is not built: node scripts/build-all.ts')
  await loadImage(image, idle())
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-bench-list-'))
  const nodeId = unique('node')
  const prefix = unique('list')
  const labels = { 'dev.crux.team': 'bench', 'dev.crux.node': nodeId, 'dev.crux.prefix': prefix }
  let created = 0
  const create = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => {
        created += 1
        return raw.create(`${prefix}-${created}`, { Image: image, Labels: labels })
      }),
    )
  const server = new FakeServer()
  await server.start()
  server.scope = { teamId: 'bench', nodeId }
  const agent = spawnAgent(server, { dataDir, token: server.newInstallToken(), nodeId, main: bundle, ...asShipped })
  try {
    await server.waitForLink()
    for (const id of await create(50)) await raw.start(id)
    const ours = async () => {
      const result = await server.ask({ case: 'listContainers', value: { prefix } })
      if (result.case !== 'containers') throw new Error(JSON.stringify(result))
      server.responses.clear()
      return result.value.containers.length
    }
    const filter = encodeURIComponent(JSON.stringify({ label: [`dev.crux.prefix=${prefix}`] }))
    const theirs = async () => (await engine<unknown[]>('GET', `/containers/json?all=true&filters=${filter}`)).length
    const timedList = (list: () => Promise<number>) => () =>
      timed(async () => {
        const count = await list()
        if (count !== 50) throw new Error(`a list of ${count} in place of 50`)
      })
    await ours()
    const sides = await interleave(rounds, { ours: timedList(ours), theirs: timedList(theirs) })
    report.ratio("list of 50 at the agent / the engine's own list call", sides, '<= 1', 'ms')
    report.number('list of 50 at the agent', median(sides.ours), 'ms', '<= 5')
    // They need not run: only their number matters.
    await create(150)
    const pid = agent.child.pid ?? 0
    const before = rssMb(pid)
    const ms = await timed(async () => {
      for (let list = 0; list < lists; list += 1) await ours()
    })
    report.number(
      `RSS of the agent after ${lists.toLocaleString('en')} lists of 200`,
      rssMb(pid),
      'MB',
      '<= 95',
      `${before.toFixed(0)} MB before them, ${Math.round(lists / (ms / 1_000))} lists/s`,
    )
  } finally {
    agent.child.kill()
    await agent.exited
    await server.stop()
    for (const { Id } of await raw.list(`dev.crux.prefix=${prefix}`)) await raw.remove(Id).catch(() => undefined)
    await engine('DELETE', `/images/${image}?force=true`).catch(() => undefined)
    await rm(dataDir, { recursive: true, force: true })
  }
}
