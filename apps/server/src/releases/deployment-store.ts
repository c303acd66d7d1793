import {
  ContainerConfigFields,
  type DeploymentStatus,
  type FinalContainerConfig,
  type NodeStatus,
  type NodeType,
  type ProjectType,
  type VersionType,
} from '@crux/contract'
import { finalConfig, type Origin } from '@crux/rules'
import {
  bundlesJson,
  type CarriedBundle,
  layersOver,
  type SharedSecret,
  sharedLayers,
  sharedSecretsJson,
} from '../container-configurations/index.ts'
import { type Queries, raw, sql } from '../db/queries.ts'
import { statusOf } from '../nodes/index.ts'
import { imageReference, type RegistryLocation } from './image-reference.ts'
import { deploymentNotFound } from './store.ts'

export type LoadedInstance = {
  id: string
  configId: string
  fields: ContainerConfigFields
  image: {
    id: string
    name: string
    tag: string
    registryId: string
    localOnly: boolean
    reference: string
    labels: Record<string, string>
  }
  /** All layers merged: the configuration that the agent would get now. */
  config: FinalContainerConfig
  /** The layer that defines each part of the configuration; computed when it is called. */
  origins: () => ReadonlyMap<string, Origin>
}
export type LoadedBundle = { id: string; name: string; configId: string; fields: ContainerConfigFields }
/** A deployment with everything that a start checks, read in one query. */
export type LoadedDeployment = {
  id: string
  teamId: string
  projectId: string
  versionId: string
  nodeId: string
  prefix: string
  status: DeploymentStatus
  protected: boolean
  attempts: number
  version: { name: string; type: VersionType }
  project: { name: string; type: ProjectType }
  node: { id: string; name: string; type: NodeType; status: NodeStatus; publicKey: string | null }
  configId: string
  fields: ContainerConfigFields
  /** In the order of the page; later ones are merged over earlier ones. */
  bundles: LoadedBundle[]
  instances: LoadedInstance[]
}

type InstanceRow = {
  id: string
  configId: string
  fields: unknown
  imageId: string
  imageName: string
  imageTag: string | null
  labels: Record<string, string>
  imageConfigId: string
  imageFields: unknown
  registryId: string
  registry: RegistryLocation
}
type Row = Omit<LoadedDeployment, 'version' | 'project' | 'node' | 'instances' | 'fields' | 'bundles'> & {
  versionName: string
  versionType: VersionType
  projectName: string
  projectType: ProjectType
  nodeName: string
  nodeType: NodeType
  linkServer: string | null
  agentVersion: string | null
  publicKey: string | null
  fields: unknown
  bundles: CarriedBundle[]
  instances: InstanceRow[]
  shared: SharedSecret[]
}

const instancesSql = (deploymentId: string) => `(
  select coalesce(json_agg(json_build_object(
    'id', inst.id, 'configId', c.id, 'fields', c.fields, 'imageId', i.id, 'imageName', i.name, 'imageTag', i.tag, 'labels', i.labels,
    'imageConfigId', ic.id, 'imageFields', ic.fields, 'registryId', r.id, 'registry', json_build_object(
      'type', r.type, 'url', r.url, 'imageNamePrefix', r.image_name_prefix, 'local', r.local)
    ) order by i."order", i.id), '[]')
  from crux.instance inst
  join crux.image i on i.id = inst.image_id
  join crux.registry r on r.id = i.registry_id
  join crux.container_config c on c.instance_id = inst.id
  join crux.container_config ic on ic.image_id = i.id
  where inst.deployment_id = ${deploymentId})`

const loadSql = (deploymentId: string, teamId: string) => sql`
  select d.id, d.team_id, d.project_id, d.version_id, d.prefix, d.status,
    d.protected, d.attempts, v.name as version_name, v.type as version_type, p.name as project_name,
    p.type as project_type, n.id as node_id, n.name as node_name, n.type as node_type, n.link_server,
    n.agent_version, n.public_key, dc.id as config_id, dc.fields,
    ${bundlesJson(raw('d.id'))} as bundles, ${raw(instancesSql('d.id'))} as instances,
    ${raw(sharedSecretsJson('d', 'n'))} as shared
  from crux.deployment d
  join crux.version v on v.id = d.version_id
  join crux.project p on p.id = d.project_id
  join crux.node n on n.id = d.node_id
  join crux.container_config dc on dc.deployment_id = d.id
  where d.id = ${deploymentId} and d.team_id = ${teamId}`

/**
 * @param options.lock locks the deployment's row until the transaction ends: of two starts, the second sees the first.
 *   Its version is locked against changes (`true`), or for callers that decide by all of its deployments (`place`)
 * @throws CruxError notFound, also for a deployment of another team
 */
export async function loadDeployment(
  queries: Queries,
  teamId: string,
  deploymentId: string,
  options: { lock: boolean | 'place' },
): Promise<LoadedDeployment> {
  const locks = options.lock ? lockDeployment(queries, deploymentId, options.lock === 'place' ? 'update' : 'share') : []
  const [row] = await Promise.all([
    loadSql(deploymentId, teamId).first<Row>(queries, 'deployment with its layers'),
    ...locks,
  ])
  if (!row) throw deploymentNotFound(deploymentId)
  const { versionName, versionType, projectName, projectType, nodeName, nodeType, publicKey, shared: _, ...rest } = row
  return {
    ...rest,
    version: { name: versionName, type: versionType },
    project: { name: projectName, type: projectType },
    node: { id: row.nodeId, name: nodeName, type: nodeType, status: statusOf(row), publicKey },
    fields: ContainerConfigFields.parse(row.fields),
    bundles: row.bundles.map(({ id, name, config }) => ({
      id,
      name,
      configId: config.id,
      fields: ContainerConfigFields.parse(config.fields),
    })),
    instances: row.instances.map((instance) => loadInstance(instance, row)),
  }
}

/**
 * Statements of their own, because a query that waits for a row has read the other rows before. They are issued
 * together, in the order of db/lock-order.ts.
 */
function lockDeployment(queries: Queries, id: string, version: 'share' | 'update'): Promise<unknown>[] {
  const project = sql`select from crux.project
    where id = (select project_id from crux.deployment where id = ${id}) for key share`
  return [
    // A copy is one more row that refers to the project.
    ...(version === 'update' ? [project.execute(queries)] : []),
    sql`select from crux.version where id = (select version_id from crux.deployment
      where id = ${id}) for ${raw(version)}`.execute(queries, `version of a deployment for ${version}`),
    sql`select from crux.deployment where id = ${id} for update`.execute(queries, 'lock deployment'),
  ]
}

function loadInstance(
  row: InstanceRow,
  { prefix, configId, fields, bundles, versionName, shared }: Row,
): LoadedInstance {
  const image = ContainerConfigFields.parse(row.imageFields)
  const own = layersOver(
    { prefix, config: { id: configId, fields }, bundles },
    { id: row.configId, fields: row.fields },
  )
  const { config, origins } = finalConfig({
    image,
    imageConfigId: row.imageConfigId,
    layers: [...sharedLayers(shared, [image, ...own.map((layer) => layer.fields)]), ...own],
    imageName: row.imageName,
    versionName,
  })
  return {
    id: row.id,
    configId: row.configId,
    fields: ContainerConfigFields.parse(row.fields),
    image: {
      id: row.imageId,
      name: row.imageName,
      tag: row.imageTag || 'latest',
      registryId: row.registryId,
      localOnly: row.registry.local,
      reference: imageReference(row.registry, row.imageName),
      labels: row.labels,
    },
    config,
    origins,
  }
}
