import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Release } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import type { ContainerConfigFields, FollowMode, VersionType } from '@crux/contract'
import { idle, type Registry, startTokenRegistry } from '@crux/test-kit'
import { badNews, type DeployTestEnvironment, goodNews, journal } from './deploy-kit.ts'
import type { Someone, TestServer } from './kit/index.ts'
import type { ScriptedAgent } from './scripted-agent.ts'

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

/** A registry in front of the real one, which counts requests for digests and answers as a test wants. */
export async function startCountedRegistry(real: Registry) {
  let answer: Answer = () => false
  const proxy = await startTokenRegistry(real, {
    account: null,
    answer: (incoming, outgoing) => incoming.method === 'HEAD' && answer(incoming, outgoing),
  })
  return {
    url: `http://${proxy.host}`,
    stop: proxy.stop,
    heads: (name: string) => proxy.requests.filter(({ line }) => line.startsWith(`HEAD /v2/${name}/manifests/`)).length,
    answers: (next: Answer) => {
      answer = next
    },
    /** Pushes other content to the tag, and returns its digest. */
    push: (name: string, tag = '1.0') => real.push(name, tag, idle(randomBytes(6).toString('hex'))),
  }
}
export type CountedRegistry = Awaited<ReturnType<typeof startCountedRegistry>>

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_, outgoing) => {
    outgoing.writeHead(status, headers).end()
    return true
  }

/** A deployment whose first image `web` runs with the digest that its tag has, and whose agent the test plays. */
export async function makeFollowing(
  testEnvironment: DeployTestEnvironment,
  registry: CountedRegistry,
  options: { type?: VersionType; others?: number; config?: ContainerConfigFields } = {},
) {
  const { server, params } = testEnvironment
  const name = `app-${randomBytes(4).toString('hex')}`
  const registryId = await testEnvironment.registry({ url: registry.url })
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const others = Array.from({ length: options.others ?? 0 }, (_, index) => ({ name: `${name}-${index}`, registryId }))
  const version = await testEnvironment.version({
    type: options.type ?? 'rolling',
    images: [{ name, registryId, ...(options.config && { config: options.config }) }, ...others],
  })
  const deployment = await testEnvironment.deployment(version, node.id)
  const { instances } = await testEnvironment.get(deployment.id)
  const instanceId = instances[0]?.id ?? ''
  const digest = await registry.push(name)
  await testEnvironment.start(deployment.id)
  await finish(agent, 1, { [instanceId]: digest })
  await testEnvironment.waitForStatus(deployment.id, 'successful')
  const at = { ...params, deploymentId: deployment.id, instanceId }
  return {
    name,
    digest,
    registryId,
    node,
    agent,
    version,
    deploymentId: deployment.id,
    instanceId,
    at,
    switchTo: (follow: FollowMode, as: Client = testEnvironment.client) =>
      as.call('deployments.update-instance', { params: at, body: { follow } }),
    instance: () => testEnvironment.client.call('deployments.get-instance', { params: at }),
    releases: () => testEnvironment.releases(deployment.id),
    /** What the hook of the registry leads to. */
    event: (on: TestServer = server) =>
      on.app.bus.publish({ type: 'registry.pushed', registryId, pushes: [{ repository: name }] }),
  }
}

/** Receives the nth release, and reports the digests that it was started with, and its outcome. */
export async function finish(
  agent: ScriptedAgent,
  nth: number,
  digests: Record<string, string> = {},
  options: { fails?: string } = {},
): Promise<Release> {
  const release = await receive(agent, nth)
  const resolved = release.instances.map(({ instanceId, imageDigest }) => ({
    event: {
      case: 'resolved' as const,
      value: { instanceId, digest: digests[instanceId] ?? (imageDigest || `sha256:${'0'.repeat(64)}`) },
    },
  }))
  const rest = options.fails
    ? badNews(options.fails)
    : goodNews(release).filter(({ event }) => event.case !== 'resolved')
  await agent.client.reportDeployment({ release: release.key, events: journal([...resolved, ...rest]) })
  return release
}

export const receive = async (agent: ScriptedAgent, nth: number): Promise<Release> =>
  (await agent.command('deploy', nth)).value as Release

export const leaveTeam = (server: TestServer, person: Someone) =>
  server.app.database.pool.query('delete from crux.team_member where user_id = $1', [person.id])
