import type { ContainerConfigFields, Deployment, DeploymentEvent } from '@crux/contract'
import type { ImageSpec } from './image.ts'
import { type Registry, registryAccount } from './registry.ts'
import type { TestUser } from './user.ts'
import { waitFor } from './wait.ts'

/** A team with a connected node and a registry, created through the API, for tests and benchmarks that deploy. */
export type TestEnvironment = {
  user: TestUser
  teamSlug: string
  teamId: string
  nodeId: string
  registryId: string
  registry: Registry
}

/** Short and unique over test runs on one engine, because container names and prefixes are shared there. */
export const unique = (prefix: string): string =>
  `${prefix}${process.pid.toString(36)}${Date.now().toString(36).slice(-5)}${Math.floor(Math.random() * 1_296).toString(36)}`

export async function createTeam(
  user: TestUser,
  slug = unique('t').slice(0, 16),
): Promise<{ teamId: string; teamSlug: string }> {
  const team = await user.client.call('teams.create', { body: { name: `Team ${slug}`, slug } })
  return { teamId: team.id, teamSlug: team.slug }
}

/** A node whose agent runs on this machine, supervised by the server ("use this machine"). */
export async function connectLocalNode(user: TestUser, teamSlug: string, name = unique('node-')): Promise<string> {
  const { client } = user
  const node = await client.call('nodes.create', { params: { teamSlug }, body: { name } })
  await client.call('nodes.start-local-agent', { params: { teamSlug, nodeId: node.id } })
  await waitFor(
    'the local agent is connected',
    async () => (await client.call('nodes.get', { params: { teamSlug, nodeId: node.id } })).status === 'connected',
    { timeoutMs: 30_000, everyMs: 100 },
  )
  return node.id
}

export async function connectRegistry(
  user: TestUser,
  teamSlug: string,
  registry: Registry,
  options: { auth?: boolean; name?: string } = {},
): Promise<string> {
  const credentials = options.auth ? registryAccount : {}
  const connected = await user.client.call('registries.create', {
    params: { teamSlug },
    body: {
      name: options.name ?? unique('registry-'),
      type: 'v2',
      details: { url: registry.host, public: !options.auth, ...credentials },
    },
  })
  return connected.id
}

export async function createTestEnvironment(
  user: TestUser,
  registry: Registry,
  options: { auth?: boolean } = {},
): Promise<TestEnvironment> {
  const team = await createTeam(user)
  const [nodeId, registryId] = await Promise.all([
    connectLocalNode(user, team.teamSlug),
    connectRegistry(user, team.teamSlug, registry, options),
  ])
  return { user, ...team, nodeId, registryId, registry }
}

export type ServiceImage = { name: string; tag: string; image?: ImageSpec; config?: Partial<ContainerConfigFields> }
export type Service = { projectId: string; versionId: string; versionName: string; imageIds: string[] }

/** Creates a versionless project with these images and their configurations. Images with a spec are pushed. */
export async function createService(
  testEnvironment: TestEnvironment,
  images: ServiceImage[],
  options: { versioned?: string; name?: string } = {},
): Promise<Service> {
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug }
  for (const one of images) if (one.image) await testEnvironment.registry.push(one.name, one.tag, one.image)
  const project = await client.call('projects.create', {
    params,
    body: { name: options.name ?? unique('project-'), type: options.versioned ? 'versioned' : 'versionless' },
  })
  const inProject = { ...params, projectId: project.id }
  const version = options.versioned
    ? await client.call('versions.create', {
        params: inProject,
        body: { name: options.versioned, type: 'incremental' },
      })
    : (await client.call('versions.list', { params: inProject, query: {} }))[0]
  if (!version) throw new Error('the project has no version')
  const inVersion = { ...inProject, versionId: version.id }
  const added = await client.call('images.create', {
    params: inVersion,
    body: images.map((one) => ({ registryId: testEnvironment.registryId, images: [`${one.name}:${one.tag}`] })),
  })
  for (const [index, one] of images.entries()) {
    const image = added[index]
    if (one.config && image)
      await client.call('images.update', { params: { ...inVersion, imageId: image.id }, body: { config: one.config } })
  }
  return {
    projectId: project.id,
    versionId: version.id,
    versionName: version.name,
    imageIds: added.map((image) => image.id),
  }
}

export const setTag = (
  testEnvironment: TestEnvironment,
  service: Service,
  index: number,
  tag: string,
): Promise<undefined> =>
  testEnvironment.user.client.call('images.update', {
    params: {
      teamSlug: testEnvironment.teamSlug,
      projectId: service.projectId,
      versionId: service.versionId,
      imageId: service.imageIds[index] ?? '',
    },
    body: { tag },
  })

export const createDeployment = (
  testEnvironment: TestEnvironment,
  service: Service,
  prefix: string,
): Promise<Deployment> =>
  testEnvironment.user.client.call('deployments.create', {
    params: { teamSlug: testEnvironment.teamSlug },
    body: { versionId: service.versionId, nodeId: testEnvironment.nodeId, prefix, protected: false },
  })

export const startDeployment = async (testEnvironment: TestEnvironment, deploymentId: string): Promise<void> => {
  await testEnvironment.user.client.call('deployments.start', {
    params: { teamSlug: testEnvironment.teamSlug, deploymentId },
    query: {},
    body: {},
  })
}

/**
 * Waits until the release in progress has ended.
 *
 * @returns its outcome
 */
/**
 * Waits for the end of the newest release of a deployment.
 *
 * @param options.cleanUp false: does not wait until the replaced containers are deleted
 */
export async function finished(
  testEnvironment: TestEnvironment,
  deploymentId: string,
  {
    timeoutMs = 60_000,
    everyMs = 50,
    cleanUp = true,
  }: { timeoutMs?: number; everyMs?: number; cleanUp?: boolean } = {},
): Promise<{ status: string; outcome: string; events: DeploymentEvent[] }> {
  const params = { teamSlug: testEnvironment.teamSlug, deploymentId }
  const deployment = await waitFor(
    'the deployment has ended',
    async () => {
      const now = await testEnvironment.user.client.call('deployments.get', { params })
      return now.status !== 'in-progress' && now
    },
    { timeoutMs, everyMs },
  )
  const readLog = async () =>
    (
      await testEnvironment.user.client.call('deployments.log', {
        params,
        query: { skip: 0, take: 1_000, try: deployment.lastTry },
      })
    ).items
  const events =
    cleanUp && deployment.status === 'successful'
      ? await waitFor(
          'what the release replaced is removed',
          async () => {
            const items = await readLog()
            const states = new Map(
              items.flatMap(({ phase }) => (phase?.phase === 'clean-up' ? [[phase.instanceId, phase.state]] : [])),
            )
            return states.size > 0 && [...states.values()].every((state) => state !== 'running') && items
          },
          { timeoutMs, everyMs },
        )
      : await readLog()
  return { status: deployment.status, outcome: deployment.outcome ?? '', events }
}

export async function deploy(
  testEnvironment: TestEnvironment,
  deploymentId: string,
): Promise<{ status: string; outcome: string; events: DeploymentEvent[] }> {
  await startDeployment(testEnvironment, deploymentId)
  return finished(testEnvironment, deploymentId)
}
