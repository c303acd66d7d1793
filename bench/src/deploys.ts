import {
  createDeployment,
  createService,
  engine,
  finished,
  freePort,
  idle,
  raw,
  removeContainers,
  type Service,
  setTag,
  startDeployment,
  unique,
  waitFor,
  web,
} from '@crux/test-kit'
import { interleave, median, now, type Report } from './measure.ts'
import { watchPort } from './port-watch.ts'
import { createRawNetwork, deploy, followEvents, type TestSystem } from './test-system.ts'

const pull = (host: string, name: string, tag: string) =>
  engine('POST', `/images/create?fromImage=${host}/${name}&tag=${tag}`)

const hasNetwork = async (prefix: string): Promise<boolean> => {
  const filters = encodeURIComponent(JSON.stringify({ label: [`dev.crux.prefix=${prefix}`] }))
  return (await engine<unknown[]>('GET', `/networks?filters=${filters}`)).length > 0
}

/**
 * First deployments with the image present, prepared a moment before: from the HTTP start to the last running container, against raw calls
 * one after another. Raw containers are on the engine's default bridge, without the names that ours have; the same calls on a network like
 * ours measure what the engine itself needs for those.
 */
export async function firstDeploys(
  testSystem: TestSystem,
  report: Report,
  options: { images: number; rounds: number; target: number; targetOnNetwork: number },
): Promise<void> {
  const { testEnvironment, registry } = testSystem
  const names = Array.from({ length: options.images }, (_, index) => `bench/idle-${index}`)
  for (const name of names) {
    await registry.push(name, '1', idle(name))
    await pull(registry.host, name, '1')
  }
  const service = await createService(
    testEnvironment,
    names.map((name) => ({ name, tag: '1', config: { name: name.slice(6) } })),
  )
  const successAfter: number[] = []
  const createdAfter: number[] = []
  const network = await createRawNetwork()
  const sides = await interleave(options.rounds, {
    ours: async () => {
      const prefix = unique('b')
      const deployment = await createDeployment(testEnvironment, service, prefix)
      // Users have opened the deployment before they start it, so its preparation is complete by then.
      await waitFor('the deployment target is prepared', () => hasNetwork(prefix), { everyMs: 20 })
      let started = 0
      let created = 0
      let begun = 0
      const { promise: allRun, resolve: runs, reject: failed } = Promise.withResolvers<number>()
      const stop = await followEvents((event, heardAt) => {
        if (event.Type !== 'container' || event.Actor.Attributes['dev.crux.prefix'] !== prefix) return
        if (event.Action === 'create' && ++created === options.images) createdAfter.push(heardAt - begun)
        if (event.Action === 'start' && ++started === options.images) runs(heardAt)
      })
      const timer = setTimeout(() => failed(new Error('not all containers were started')), 60_000)
      begun = now()
      await startDeployment(testEnvironment, deployment.id)
      // A status request costs time itself, so the first one is sent only now.
      const took = (await allRun) - begun
      clearTimeout(timer)
      const result = await finished(testEnvironment, deployment.id)
      if (result.status !== 'successful') throw new Error(result.outcome)
      successAfter.push(now() - begun)
      stop()
      await removeContainers(`dev.crux.prefix=${prefix}`)
      await testEnvironment.user.client.call('deployments.delete', {
        params: { teamSlug: testEnvironment.teamSlug, deploymentId: deployment.id },
        query: {},
      })
      return took
    },
    theirs: () => rawDeploy(names, registry.host),
    theirsOnNetwork: () => rawDeploy(names, registry.host, network),
  }).finally(() => engine('DELETE', `/networks/${network}`))
  const title =
    options.images === 1
      ? 'one image, first deploy / raw create+start+inspect'
      : `${options.images} images, first deploy / raw one after another`
  report.ratio(
    title,
    sides,
    `<= ${options.target}`,
    'ms',
    `created after ${Math.round(median(createdAfter))} ms; "successful" after ${Math.round(median(successAfter))} ms with the observation window of 1 s`,
  )
  const { ours, theirs, theirsOnNetwork } = sides
  report.ratio(
    '  of it: ours / the same raw calls on a network with names',
    { ours, theirs: theirsOnNetwork },
    `<= ${options.targetOnNetwork}`,
    'ms',
  )
  report.ratio('  of it: raw on a network with names / raw', { ours: theirsOnNetwork, theirs }, undefined, 'ms')
}

/** Create, start and inspect each image by hand, on the default bridge or a network. */
async function rawDeploy(names: readonly string[], host: string, networkMode?: string): Promise<number> {
  const label = unique('raw')
  const begun = now()
  for (const name of names) {
    const id = await raw.create(`${label}-${name.slice(6)}`, {
      Image: `${host}/${name}:1`,
      Labels: { bench: label },
      ...(networkMode && { HostConfig: { NetworkMode: networkMode } }),
    })
    await raw.start(id)
    await raw.inspect(id)
  }
  const took = now() - begun
  await removeContainers(`bench=${label}`)
  return took
}

/**
 * A redeploy of a container that publishes a port, under requests: milliseconds without an answer, measured by a process of its own. The
 * raw side follows the best manual procedure: the new container exists before the old one stops, on a network of the same kind, with a
 * neighbour that keeps the network's bridge up.
 */
export async function portSilence(
  testSystem: TestSystem,
  report: Report,
  options: { rounds: number; pullFirst: boolean },
): Promise<void> {
  const { testEnvironment, registry } = testSystem
  const [port, rawPort] = [await freePort(), await freePort()]
  const name = options.pullFirst ? 'bench/pulled' : 'bench/port'
  let serial = 0
  const nextTag = async () => {
    const tag = `v${++serial}`
    await registry.push(name, tag, { ...web(tag), ...(options.pullFirst && { ballastBytes: 4_000_000 }) })
    if (!options.pullFirst) await pull(registry.host, name, tag)
    return tag
  }
  const service = await createService(testEnvironment, [
    { name, tag: await nextTag(), config: { name: 'web', ports: [{ internal: 8080, external: port }] } },
  ])
  const prefix = unique('p')
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await deploy(testEnvironment, deployment.id)
  const network = await createRawNetwork()
  const label = unique('rawport')
  const makeRaw = (tag: string, published: boolean) =>
    raw.create(unique('rawport'), {
      Image: `${registry.host}/${name}:${tag}`,
      Labels: { bench: label },
      HostConfig: {
        NetworkMode: network,
        ...(published && { PortBindings: { '8080/tcp': [{ HostPort: String(rawPort) }] } }),
      },
    })
  const firstTag = await nextTag()
  await pull(registry.host, name, firstTag)
  await raw.start(await makeRaw(firstTag, false))
  let old = await makeRaw(firstTag, true)
  await raw.start(old)
  try {
    const sides = await interleave(options.rounds, {
      ours: async () => {
        await setTag(testEnvironment, service, 0, await nextTag())
        const probe = await watchPort(port)
        await deploy(testEnvironment, deployment.id)
        return probe.end()
      },
      theirs: async () => {
        const tag = await nextTag()
        const probe = await watchPort(rawPort)
        if (options.pullFirst) await pull(registry.host, name, tag)
        const next = await makeRaw(tag, true)
        await raw.stop(old)
        await raw.start(next)
        await waitFor('the new one answers', () => answers(rawPort, tag), { everyMs: 20 })
        const silence = await probe.end()
        await raw.remove(old)
        old = next
        return silence
      },
    })
    report.ratio(
      `redeploy with a published port${options.pullFirst ? ', pulled first' : ''}: silence / raw`,
      sides,
      '<= 1.1',
      'ms',
    )
  } finally {
    await removeContainers(`bench=${label}`)
    await engine('DELETE', `/networks/${network}`)
    await removeContainers(`dev.crux.prefix=${prefix}`)
  }
}

const answers = async (port: number, body: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
  return (await answer?.text()) === body
}

/** Requests by name inside the prefix's network while the service behind the name is replaced again and again. */
export async function noFailedRequest(testSystem: TestSystem, report: Report, redeploys: number): Promise<void> {
  const { testEnvironment, registry } = testSystem
  await registry.push('bench/client', '1', {
    cmd: [
      '/bin/sh',
      '-c',
      "trap 'exit 0' TERM; while :; do if wget -q -O /dev/null http://web:8080/; then echo ok; else echo FAILED; fi; done",
    ],
  })
  const tags = ['a', 'b']
  for (const tag of tags) await registry.push('bench/inside', tag, web(tag))
  const service: Service = await createService(testEnvironment, [
    { name: 'bench/inside', tag: 'a', config: { name: 'web' } },
    { name: 'bench/client', tag: '1', config: { name: 'client' } },
  ])
  const prefix = unique('n')
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await deploy(testEnvironment, deployment.id)
  const client = (await raw.list(`dev.crux.prefix=${prefix}`)).find((one) => one.Names[0]?.endsWith('-client'))
  if (!client) throw new Error('the client container does not run')
  const since = Math.floor(Date.now() / 1_000)
  for (let round = 1; round <= redeploys; round++) {
    await setTag(testEnvironment, service, 0, tags[round % 2] ?? 'a')
    await deploy(testEnvironment, deployment.id)
  }
  const log = await engine<string>('GET', `/containers/${client.Id}/logs?stdout=true&since=${since}`)
  const failed = log.split('FAILED').length - 1
  const answered = log.split('ok').length - 1
  await removeContainers(`dev.crux.prefix=${prefix}`)
  report.number(
    'failed requests inside the network, no published port',
    failed,
    'requests',
    '<= 0',
    `${answered} answered during ${redeploys} redeploys`,
  )
}
