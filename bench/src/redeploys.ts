import {
  createDeployment,
  createService,
  engine,
  finished,
  raw,
  removeContainers,
  setTag,
  startDeployment,
  unique,
  web,
} from '@crux/test-kit'
import { interleave, now, type Report } from './measure.ts'
import type { TestSystem } from './test-system.ts'

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
  await startDeployment(testEnvironment, deployment.id)
  await finished(testEnvironment, deployment.id)
  const network = unique('rawnet')
  await engine('POST', '/networks/create', { Name: network, Driver: 'bridge', CheckDuplicate: true })
  const label = unique('raw')
  let serial = 0
  const makeRaw = (name: string, tag: string) =>
    raw.create(`${label}-${name.slice(6)}-${++serial}`, {
      Image: `${registry.host}/${name}:${tag}`,
      Labels: { bench: label },
      HostConfig: { NetworkMode: network },
    })
  const old = new Map<string, string>()
  for (const name of names) {
    const id = await makeRaw(name, 'a')
    await raw.start(id)
    old.set(name, id)
  }
  let round = 0
  const removals: number[] = []
  try {
    const sides = await interleave(options.rounds, {
      ours: async () => {
        const tag = tags[++round % 2] ?? 'a'
        for (const index of names.keys()) await setTag(testEnvironment, service, index, tag)
        const begun = now()
        await startDeployment(testEnvironment, deployment.id)
        const result = await finished(testEnvironment, deployment.id, { everyMs, cleanUp: false })
        if (result.status !== 'successful') throw new Error(result.outcome)
        const took = now() - begun
        // The clean-up of this round must not affect the other side or the next round.
        await finished(testEnvironment, deployment.id, { everyMs })
        removals.push(now() - begun - observationWindowMs)
        return took - observationWindowMs
      },
      theirs: async () => {
        const begun = now()
        for (const name of names) {
          const next = await makeRaw(name, tags[round % 2] ?? 'a')
          const previous = old.get(name) ?? ''
          await raw.stop(previous)
          await raw.start(next)
          await raw.remove(previous)
          old.set(name, next)
        }
        return now() - begun
      },
    })
    const images = options.images === 1 ? 'one image' : `${options.images} images`
    report.ratio(
      `${images}, redeploy until it is successful, without its window / raw by hand`,
      sides,
      { at: 'most', value: options.target },
      'ms',
    )
    report.ratio(
      `${images}, the same until what it replaced is removed / raw by hand`,
      { ours: removals, theirs: sides.theirs },
      undefined,
      'ms',
    )
  } finally {
    await removeContainers(`bench=${label}`)
    await engine('DELETE', `/networks/${network}`)
    await removeContainers(`dev.crux.prefix=${prefix}`)
  }
}
