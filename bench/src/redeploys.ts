import {
  createDeployment,
  createService,
  engine,
  finished,
  raw,
  removeContainers,
  setTag,
  unique,
  web,
} from '@crux/test-kit'
import { interleave, now, type Report, timed } from './measure.ts'
import { createRawNetwork, deploy, type TestSystem } from './test-system.ts'

/** How often the end is polled: often enough for the precision, seldom enough to keep no core busy. */
const everyMs = 25

/** How long the server makes the agent watch a new container before it counts as running. */
const observationWindowMs = 1_000

/**
 * A release that replaces every container, images present: from the HTTP start until it is successful, without the observation window, and
 * until the previous containers are gone. The other side is the manual procedure one after another: create the new container, stop the old
 * one, start the new one, remove the old one.
 */
export async function redeploys(
  testSystem: TestSystem,
  report: Report,
  options: { images: number; rounds: number; target: number },
): Promise<void> {
  const { testEnvironment, registry } = testSystem
  const names = Array.from({ length: options.images }, (_, index) => `bench/redeploy-${index}`)
  const tags = ['a', 'b']
  for (const name of names) {
    for (const tag of tags) {
      await registry.push(name, tag, web(tag))
      await engine('POST', `/images/create?fromImage=${registry.host}/${name}&tag=${tag}`)
    }
  }
  const service = await createService(
    testEnvironment,
    names.map((name) => ({ name, tag: 'a', config: { name: name.slice(6) } })),
  )
  const prefix = unique('r')
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await deploy(testEnvironment, deployment.id)
  const network = await createRawNetwork()
  const byHand = await startByHand(names, registry.host, network)
  let round = 0
  const removals: number[] = []
  try {
    const sides = await interleave(options.rounds, {
      ours: async () => {
        const tag = tags[++round % 2] ?? 'a'
        for (const index of names.keys()) await setTag(testEnvironment, service, index, tag)
        const begun = now()
        const took = await timed(() => deploy(testEnvironment, deployment.id, { everyMs, cleanUp: false }))
        // The clean-up of this round must not affect the other side or the next round.
        await finished(testEnvironment, deployment.id, { everyMs })
        removals.push(now() - begun - observationWindowMs)
        return took - observationWindowMs
      },
      theirs: () => byHand.replaceAll(tags[round % 2] ?? 'a'),
    })
    const images = options.images === 1 ? 'one image' : `${options.images} images`
    report.ratio(
      `${images}, redeploy until it is successful, without its window / raw by hand`,
      sides,
      `<= ${options.target}`,
      'ms',
    )
    report.ratio(
      `${images}, the same until what it replaced is removed / raw by hand`,
      { ours: removals, theirs: sides.theirs },
      undefined,
      'ms',
    )
  } finally {
    await removeContainers(`bench=${byHand.label}`)
    await engine('DELETE', `/networks/${network}`)
    await removeContainers(`dev.crux.prefix=${prefix}`)
  }
}

/** The same containers by hand, one after another; the first ones run at once. */
async function startByHand(names: readonly string[], host: string, network: string) {
  const label = unique('raw')
  let serial = 0
  const create = (name: string, tag: string) =>
    raw.create(`${label}-${name.slice(6)}-${++serial}`, {
      Image: `${host}/${name}:${tag}`,
      Labels: { bench: label },
      HostConfig: { NetworkMode: network },
    })
  const current = new Map<string, string>()
  for (const name of names) {
    const id = await create(name, 'a')
    await raw.start(id)
    current.set(name, id)
  }
  return {
    label,
    replaceAll: (tag: string): Promise<number> =>
      timed(async () => {
        for (const name of names) {
          const next = await create(name, tag)
          const previous = current.get(name) ?? ''
          await raw.stop(previous)
          await raw.start(next)
          await raw.remove(previous)
          current.set(name, next)
        }
      }),
  }
}
