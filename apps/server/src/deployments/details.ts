import type { ResponseInput } from '@crux/contract'
import { isCopiable, isDeletable, isDeployable, isMutable } from '@crux/rules'
import type { TeamContext } from '../access/index.ts'
import {
  bundlesJson,
  type CarriedBundle,
  type ConfigRow,
  configJson,
  toContainerConfig,
} from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import { deploymentNotFound } from '../releases/index.ts'
import { instancesOf } from './instance-store.ts'
import { findListRow, toDeployments } from './list-store.ts'

type Beside = {
  attempts: number
  publicKey: string | null
  config: ConfigRow
  bundles: CarriedBundle[]
  token: { id: string; name: string; createdAt: string; createdBy: string; expiresAt: string | null } | null
  running: { deploymentId: string; number: number; versionName: string; startedAt: string } | null
}

/** @throws CruxError notFound */
export async function getDeployment(
  app: App,
  team: TeamContext,
  id: string,
): Promise<ResponseInput<'deployments.get'>> {
  const row = await findListRow(app, team.id, id)
  if (!row) throw deploymentNotFound(id)
  const [[deployment], beside, instances] = await Promise.all([
    toDeployments(app, [row]),
    readBeside(app, id),
    instancesOf(app, id),
  ])
  if (!deployment || !beside) throw deploymentNotFound(id)
  const maker = beside.token?.createdBy
  const makers = await app.identity.people(maker ? [maker] : [])
  const facts = { status: row.status, versionType: row.versionType }
  return {
    ...deployment,
    publicKey: beside.publicKey,
    config: toContainerConfig(beside.config),
    configBundles: beside.bundles.map(toBundle),
    token: beside.token && {
      ...beside.token,
      createdAt: new Date(beside.token.createdAt).toISOString(),
      createdBy: makers.get(beside.token.createdBy)?.name ?? 'Unknown user',
      createdById: beside.token.createdBy,
      expiresAt: beside.token.expiresAt && new Date(beside.token.expiresAt).toISOString(),
    },
    lastTry: beside.attempts,
    instances,
    mutable: isMutable(facts),
    deployable: isDeployable(facts),
    deletable: isDeletable(facts),
    copiable: isCopiable(facts),
    running: beside.running && {
      ...beside.running,
      startedAt: new Date(beside.running.startedAt).toISOString(),
    },
  }
}

async function readBeside(app: App, id: string): Promise<Beside | undefined> {
  const { rows } = await app.database.pool.query<Beside>({
    name: 'deployment beside',
    text: `select d.attempts, n.public_key,
        ${configJson('c')} as config, ${bundlesJson('d.id')} as bundles,
        (select json_build_object('deploymentId', r.deployment_id, 'number', r.number, 'versionName', r.version_name,
            'startedAt', r.started_at)
          from crux.release r where r.node_id = d.node_id and r.prefix = d.prefix and r.project_id = d.project_id
            and r.current) as running,
        (select json_build_object('id', k.id, 'name', k.name, 'createdAt', k.created_at, 'createdBy', k.created_by,
            'expiresAt', k.expires_at)
          from crux.access_token k where k.deployment_id = d.id and k.hash is not null) as token
      from crux.deployment d
      join crux.node n on n.id = d.node_id
      join crux.container_config c on c.deployment_id = d.id
      where d.id = $1`,
    values: [id],
  })
  return rows[0]
}

/** The current bundles of a deployment, for open pages. */
export async function bundlesOf(
  app: App,
  deploymentId: string,
): Promise<ResponseInput<'deployments.get'>['configBundles']> {
  const { rows } = await app.database.pool.query<{ bundles: CarriedBundle[] }>({
    name: 'bundles of a deployment',
    text: `select ${bundlesJson('$1')} as bundles`,
    values: [deploymentId],
  })
  return (rows[0]?.bundles ?? []).map(toBundle)
}

const toBundle = ({ id, name, description, config }: CarriedBundle) => ({
  id,
  name,
  description,
  configId: config.id,
  config: toContainerConfig(config),
})
