import {
  ContainerConfigFields,
  type DeploymentStatus,
  type FinalContainerConfig,
  type NodeCluster,
  type NodeStatus,
  type NodeType,
  type ProjectType,
  type VersionType,
} from '@crux/contract'
import { finalConfig, type Origin } from '@crux/rules'
import {
  type AttachedBundle,
  bundlesJson,
  layersOver,
  type SharedSecret,
  sharedLayers,
  sharedSecretsJson,
} from '../container-configurations/index.ts'
import { type Queries, raw, sql } from '../db/queries.ts'
import { getStatus, isUpdatingSql } from '../nodes/index.ts'
import { imageReference, type RegistryLocation } from './image-reference.ts'
import { deploymentNotFound } from './store.ts'

export type LoadedInstance = {
  id: string
  configId: string
  fields: ContainerConfigFields
  image: {
    id: string
    name: string
    /** As the image stores it, perhaps with a digest. */
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
  node: {
    id: string
    name: string
    type: NodeType
    status: NodeStatus
    publicKey: string | null
    /** Settings of a Kubernetes node; null while nobody saved any. */
    cluster: NodeCluster | null
  }
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
type Row = Omit<LoadedDeployment, 'node' | 'instances' | 'fields' | 'bundles'> & {
  node: Omit<LoadedDeployment['node'], 'status'> & {
    linkServer: string | null
    agentVersion: string | null
    updating: boolean
  }
  fields: unknown
  bundles: AttachedBundle[]
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
    d.protected, d.attempts, d.node_id, dc.id as config_id, dc.fields,
    json_build_object('name', v.name, 'type', v.type) as version,
    json_build_object('name', p.name, 'type', p.type) as project,
    json_build_object('id', n.id, 'name', n.name, 'type', n.type, 'publicKey', n.public_key, 'cluster', n.cluster,
      'linkServer', n.link_server, 'agentVersion', n.agent_version, 'updating', ${isUpdatingSql}) as node,
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
  const { shared: _, ...rest } = row
  const { linkServer, agentVersion, updating, ...node } = row.node
  return {
    ...rest,
    node: { ...node, status: getStatus({ linkServer, agentVersion, updating }) },
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

function loadInstance(row: InstanceRow, { prefix, configId, fields, bundles, version, shared }: Row): LoadedInstance {
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
    versionName: version.name,
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
