import { randomBytes } from 'node:crypto'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { type DeploymentEventSchema, Phase, PhaseState, type Release } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import type { ContainerConfigFields, ProjectType, VersionType } from '@crux/contract'
import { hashToken, makeToken } from '../src/access/token-text.ts'
import { newId } from '../src/db/new-id.ts'
import { type Someone, type TestServer, type TestTeam, until } from './kit/index.ts'
import { keyOne } from './node-keys.ts'
import { ScriptedAgent } from './scripted-agent.ts'

type Sequenced = { event: NonNullable<MessageInitShape<typeof DeploymentEventSchema>['event']> }
export type SeededVersion = { projectId: string; versionId: string; imageIds: string[]; imageConfigIds: string[] }

/** Inserts rows of other domains directly: a team with a node, a registry and projects, ready to deploy. */
export async function makeDeployTestEnvironment(server: TestServer) {
  const owner = server.signUp('Ada')
  const team = await server.createTeam(owner)
  return getTestEnvironment(server, owner, team)
}
export type DeployTestEnvironment = Awaited<ReturnType<typeof makeDeployTestEnvironment>>

export async function getTestEnvironment(server: TestServer, owner: Someone, team: TestTeam) {
  const { pool } = server.app.database
  const one = async (text: string, values: unknown[]): Promise<string> => (await pool.query(text, values)).rows[0].id
  const user = owner.id

  async function node(name = `node-${randomBytes(3).toString('hex')}`) {
    const id = await one(
      `insert into crux.node (team_id, name, public_key, created_by, updated_by) values ($1, $2, $4, $3, $3) returning id`,
      [team.id, name, user, keyOne],
    )
    const token = makeToken()
    await pool.query(
      `insert into crux.node_token (node_id, hash, exchanged_by, used_at, created_by) values ($1, $2, 'test', now(), $3)`,
      [id, hashToken(token), user],
    )
    return { id, name, token }
  }

  /** Credentials are encrypted as the registries domain does it. */
  async function registry(fields: { url?: string; user?: string; token?: string; local?: boolean } = {}) {
    const id = await newId(pool)
    return one(
      `insert into crux.registry (id, team_id, name, type, url, public, local, "user", token, created_by, updated_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) returning id`,
      [
        id,
        team.id,
        `registry ${randomBytes(3).toString('hex')}`,
        fields.local ? 'unchecked' : 'v2',
        fields.url ?? 'https://registry.example.com:5000',
        !fields.token,
        fields.local ?? false,
        fields.user ?? null,
        fields.token ? server.app.cipher.encrypt(fields.token, { column: 'registry.token', row: id }) : null,
        user,
      ],
    )
  }
  const registryId = await registry()

  const project = (name = `shop ${randomBytes(3).toString('hex')}`, type: ProjectType = 'versioned') =>
    one(
      `insert into crux.project (team_id, name, type, created_by, updated_by) values ($1, $2, $3, $4, $4) returning id`,
      [team.id, name, type, user],
    )

  async function version(
    options: {
      images?: { name: string; tag?: string; config?: ContainerConfigFields; registryId?: string }[]
      name?: string
      type?: VersionType
      projectId?: string
      parentId?: string
    } = {},
  ): Promise<SeededVersion> {
    const projectId = options.projectId ?? (await project())
    const versionId = await one(
      `with made as (select uuidv7() as id)
       insert into crux.version (id, project_id, name, type, parent_id, chain_id, created_by, updated_by)
       select made.id, $1, $2, $3::text, $4::uuid, case when $3 = 'incremental' then
         coalesce((select chain_id from crux.version where id = $4::uuid), made.id) end, $5, $5 from made returning id`,
      [projectId, options.name ?? '1.0.0', options.type ?? 'rolling', options.parentId ?? null, user],
    )
    const imageIds: string[] = []
    const imageConfigIds: string[] = []
    for (const [order, image] of (options.images ?? [{ name: 'web' }]).entries()) {
      const id = await one(
        `insert into crux.image (version_id, registry_id, name, tag, "order", created_by, updated_by)
         values ($1, $2, $3, $4, $5, $6, $6) returning id`,
        [versionId, image.registryId ?? registryId, image.name, image.tag ?? '1.0', order, user],
      )
      imageIds.push(id)
      imageConfigIds.push(
        await one(`insert into crux.container_config (type, image_id, fields) values ('image', $1, $2) returning id`, [
          id,
          JSON.stringify(image.config ?? {}),
        ]),
      )
    }
    return { projectId, versionId, imageIds, imageConfigIds }
  }

  const client: Client = server.client(owner)
  const params = { teamSlug: team.slug }
  return {
    server,
    owner,
    team,
    client,
    params,
    registryId,
    node,
    registry,
    project,
    version,
    async agent(
      at: { id: string; token: string },
      info: Partial<{
        openReleases: { deploymentId: string; number: number }[]
        publicKey: string
        engineVersion: string
        operatingSystem: string
        architecture: string
      }> = {},
    ) {
      const agent = new ScriptedAgent({
        url: server.url,
        nodeId: at.id,
        token: at.token,
        info: { publicKey: keyOne, ...(info as object) },
      })
      // A preview would wait for the time limit of its answer.
      agent.failing.add('findPortHolders')
      const welcome = await agent.connect()
      return Object.assign(agent, { welcome })
    },
    async deployment(version: SeededVersion, nodeId: string, prefix = `p${randomBytes(4).toString('hex')}`) {
      return client.call('deployments.create', {
        params,
        body: { versionId: version.versionId, nodeId, prefix, protected: false },
      })
    },
    start: (deploymentId: string, as: Client = client) =>
      as.call('deployments.start', { params: { ...params, deploymentId }, query: {}, body: {} }),
    get: (deploymentId: string) => client.call('deployments.get', { params: { ...params, deploymentId } }),
    releases: (deploymentId: string) => client.call('deployments.releases', { params: { ...params, deploymentId } }),
    async events(deploymentId: string) {
      const page = await client.call('deployments.log', {
        params: { ...params, deploymentId },
        query: { skip: 0, take: 1_000 },
      })
      return page.items
    },
    /** Resolves once the deployment has this status. */
    waitForStatus: (deploymentId: string, status: string) =>
      until(async () => {
        const now = await client.call('deployments.get', { params: { ...params, deploymentId } })
        return now.status === status ? now : undefined
      }),
  }
}

/** Numbers the events of a journal as an agent does. */
export const journal = (events: Sequenced[], from = 1): MessageInitShape<typeof DeploymentEventSchema>[] =>
  events.map((event, index) => ({ ...event, sequence: BigInt(from + index) }))

/** The events of a successful release. */
export const goodNews = (release: Release): Sequenced[] => [
  ...release.instances.flatMap(({ instanceId }): Sequenced[] => [
    { event: { case: 'resolved', value: { instanceId, digest: `sha256:${instanceId.replace(/-/g, '')}` } } },
    phase(instanceId, Phase.PULL, PhaseState.DONE),
    phase(instanceId, Phase.VERIFY, PhaseState.DONE),
  ]),
  {
    event: {
      case: 'outcome',
      value: {
        successful: true,
        containerNames: release.instances.map(
          (instance) => `${release.owner?.prefix}-${(JSON.parse(instance.configJson) as { name: string }).name}`,
        ),
      },
    },
  },
]

/** The events after that, for each image whose previous container the agent removes. */
export const cleanUpNews = (release: Release): Sequenced[] => [
  ...release.instances.map(({ instanceId }) => phase(instanceId, Phase.CLEAN_UP, PhaseState.DONE)),
  { event: { case: 'cleanUpEnd', value: {} } },
]

export const badNews = (reason: string, previousRestored = true): Sequenced[] => [
  { event: { case: 'outcome', value: { successful: false, reason, previousRestored: previousRestored } } },
]

export const phase = (instanceId: string, which: Phase, state: PhaseState): Sequenced => ({
  event: { case: 'phase', value: { instanceId, phase: which, state } },
})

/** The nth release that the agent got. A new link may send one again that has begun; real agents know it, and so must this one. */
async function nextRelease(agent: ScriptedAgent, nth: number): Promise<Release> {
  const known = new Set<string>()
  for (let received = 1; ; received++) {
    const release = (await agent.command('deploy', received)).value as Release
    known.add(`${release.key?.deploymentId} ${release.key?.number}`)
    if (known.size === nth) return release
  }
}

/** Receives the nth release, reports its success, and returns it. */
export async function deployWell(agent: ScriptedAgent, nth = 1): Promise<Release> {
  const release = await nextRelease(agent, nth)
  await agent.client.reportDeployment({ release: release.key, events: journal(goodNews(release)) })
  return release
}
