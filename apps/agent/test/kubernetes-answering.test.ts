import { randomUUID } from 'node:crypto'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toWorkload } from './kit/cluster.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const isFull = process.env.CRUX_TEST_FULL === '1'
/** The whole run takes about ten minutes. */
const wanted = isFull ? { releases: 50, failing: 10, requests: 100_000 } : { releases: 10, failing: 3, requests: 1_000 }
const loops = 2
/**
 * Measured with busy processes beside it, one of 70 changes reached the only machine of the cluster after more than the 2 s of the default.
 * The full run is made on a quiet machine.
 */
const drain = isFull
  ? { drainSeconds: undefined, config: {} }
  : { drainSeconds: 15, config: { stopGracePeriodSeconds: 20 } }
/** Without it, a pod gets requests as soon as its shell runs, and its server listens a moment later. */
const probe = { healthCheckConfig: { readinessProbe: '/', port: 8080 } }

/**
 * Sends requests, each over a connection of its own, and says every 50 requests how many there were. A request that hangs keeps its loop from
 * going on, which the test waits for in vain.
 */
const toClient = (url: string) =>
  `for loop in $(seq ${loops}); do (
    sent=0
    while true; do
      answer=$(wget -q -O - ${url} 2>&1) || echo "failed $(date +%T): $answer"
      case "$answer" in v[0-9]*) ;; *) echo "failed $(date +%T): not an answer: $answer" ;; esac
      sent=$((sent + 1)); [ $((sent % 50)) = 0 ] && echo "sent $loop $sent"
    done
  ) & done; trap 'exit 0' TERM; wait`

/** A program, an image and a probe that each make a release fail. */
const failures = [
  { says: 'an image that nobody has', image: 'registry.invalid/app:1', config: {} },
  { says: 'a program that ends', config: shell('exit 3') },
  {
    says: 'a probe that fails',
    config: {
      healthCheckConfig: { readinessProbe: '/missing', port: 8080 },
      expectedState: { state: 'running' as const, timeout: 4 },
    },
  },
] as const

/** The time of day to the second, as the clients in the cluster write it. */
const toTime = () => new Date().toISOString().slice(11, 19)

/** Each line once, with how often it was there. */
function toCounts(lines: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].map(([line, count]) => `${count} x ${line}`)
}

describe.skipIf(missing)('a service of two replicas on Kubernetes', () => {
  let agent: ClusterAgent
  beforeAll(async () => {
    agent = await startClusterAgent()
  })
  afterAll(() => agent?.dispose())

  const instanceId = randomUUID()
  const deploymentId = randomUUID()
  let number = 0
  const deploy = (config: object, image?: string) => {
    number += 1
    const fixed = image === undefined ? {} : { image, digest: `sha256:${'0'.repeat(64)}` }
    return agent.server.deployAndWait(
      agent.release({
        deploymentId,
        number,
        cluster: { drainSeconds: drain.drainSeconds },
        previous: number > 1 ? [{ containerName: `${agent.owner.prefix}-web`, instanceId }] : [],
        instances: [
          {
            instanceId,
            ...fixed,
            config: { name: 'web', ports, replicas: 2, ...probe, ...drain.config, ...serve(`v${number}`), ...config },
          },
        ],
      }),
    )
  }
  /** When each release began and ended, for the message of a failure. */
  const releases: string[] = []
  const deployAt = async (...[config, image]: Parameters<typeof deploy>) => {
    const begin = toTime()
    const outcome = await deploy(config, image)
    releases.push(`release ${number} from ${begin} to ${toTime()}: ${outcome.reason || 'successful'}`)
    return outcome
  }
  /** Requests from outside of the cluster that got no answer, with the time and what happened. */
  const failedHere: string[] = []
  const getAnswer = async (url: string) => {
    try {
      return (await (await fetch(url, { headers: { connection: 'close' } })).text()).trim()
    } catch (error) {
      failedHere.push(`failed ${toTime()} from outside: ${String(error instanceof Error ? error.cause : error)}`)
      return ''
    }
  }

  const startClient = async (url: string) => {
    const namespace = await agent.createNamespace()
    await agent.cluster.create(toWorkload(namespace, 'client', toClient(url), { labels: { app: 'client' } }))
    const read = async () => {
      const [pod] = (await agent.cluster.list('Pod', { namespace })).objects
      const lines: string[] = []
      if (getPath(pod, 'status', 'phase') !== 'Running' || !pod) return lines
      const log = agent.cluster.readLog(
        { namespace, name: pod.name, container: 'client' },
        { take: 100_000, follow: false },
      )
      for await (const chunk of log) lines.push(...chunk.map(({ text }) => text))
      return lines
    }
    const countSent = (lines: readonly string[]) => {
      const byLoop = new Map(
        lines.flatMap((line) => {
          const [word, loop = '', sent] = line.split(' ')
          return word === 'sent' ? [[loop, Number(sent)] as const] : []
        }),
      )
      return { loops: byLoop, total: [...byLoop.values()].reduce((sum, sent) => sum + sent, 0) }
    }
    return {
      sent: async () => countSent(await read()),
      failed: async () => (await read()).filter((line) => line.startsWith('failed')),
    }
  }

  test(
    'answers every request while releases replace it, also those that fail',
    async () => {
      expect(await deployAt({})).toMatchObject({ successful: true, reason: '' })
      const address = getPath(await agent.get('Service', 'web'), 'spec', 'clusterIP')
      const url = `http://${String(address)}/`
      const client = await startClient(url)
      const every = Math.floor(wanted.releases / wanted.failing)
      let failed = 0
      let current = number
      for (let release = 1; release <= wanted.releases || (await client.sent()).total < wanted.requests; release += 1) {
        const failure = release % every === 0 ? failures[failed % failures.length] : undefined
        if (failure) {
          failed += 1
          const outcome = await deployAt(failure.config, 'image' in failure ? failure.image : undefined)
          expect(outcome, failure.says).toMatchObject({ successful: false, previousRestored: true })
        } else {
          expect(await deployAt({})).toMatchObject({ successful: true, reason: '' })
          current = number
        }
        await waitUntil('the current version alone answers', async () => (await getAnswer(url)) === `v${current}`)
      }
      expect(failed).toBeGreaterThanOrEqual(wanted.failing)
      const before = await client.sent()
      await waitUntil('no request hangs', async () => {
        const { loops: now } = await client.sent()
        return now.size === loops && [...now].every(([loop, sent]) => sent > (before.loops.get(loop) ?? 0))
      })
      expect(toCounts([...(await client.failed()), ...failedHere]), releases.join('\n')).toEqual([])
      const { total } = await client.sent()
      expect(total).toBeGreaterThanOrEqual(wanted.requests)
      if (isFull) process.stdout.write(`${total} requests during ${number - 1} releases, of which ${failed} failed\n`)
    },
    isFull ? 3_600_000 : 240_000,
  )
})
