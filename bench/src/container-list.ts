import { engine, idle, loadImage, raw, unique } from '@crux/test-kit'
import { rssMb } from './agent-at-rest.ts'
import { startBundledAgent } from './bundled-agent.ts'
import { interleave, median, type Report, timed } from './measure.ts'

const lists = 1_000
const image = 'bench-container-list:1'

/**
 * A list of 50 running containers at the agent, from the command on the link to its answer, against the engine's own list call; then the
 * agent's memory after 1,000 lists of 200. The agent is the bundle, its server the plain one of its tests.
 */
export async function containerList(report: Report, rounds: number): Promise<void> {
  await loadImage(image, idle())
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
  const agent = await startBundledAgent({ nodeId })
  try {
    for (const id of await create(50)) await raw.start(id)
    const ours = () => agent.list(prefix)
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
    const { pid } = agent
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
    await agent.end()
    for (const { Id } of await raw.list(`dev.crux.prefix=${prefix}`)) await raw.remove(Id).catch(() => undefined)
    await engine('DELETE', `/images/${image}?force=true`).catch(() => undefined)
  }
}
