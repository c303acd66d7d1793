import type { ResponseInput } from '@crux/contract'
import { defaultContainerName } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { sql } from '../db/queries.ts'
import { getConfig } from './actions.ts'
import { toContainerConfig } from './store.ts'

type InstanceRow = {
  id: string
  configId: string
  imageName: string
  containerName: string | null
  imageConfigId: string
  secretKeys: string[]
  imageSecretKeys: string[]
}

/** The owner of a configuration, and for an instance the containers that run beside it. */
export async function getRelations(
  app: App,
  { team }: Caller,
  configId: string,
): Promise<ResponseInput<'container-configurations.relations'>> {
  const { row, project, version, image, imageConfig, deployment, configBundle } = await getConfig(app, team, configId)
  const relations: ResponseInput<'container-configurations.relations'> = { project, version, configBundle }
  if (image && imageConfig && row.type !== 'deployment') {
    const beside =
      await sql`select r.id, r.name, i.labels from crux.registry r join crux.image i on i.registry_id = r.id
        where i.id = ${image.id}`.first<{ id: string; name: string; labels: Record<string, string> }>(app.database.pool)
    if (beside) {
      const { labels, ...registry } = beside
      relations.image = { ...image, config: toContainerConfig(imageConfig), registry, labels }
    }
  }
  if (deployment) {
    relations.deployment = {
      ...deployment,
      publicKey: deployment.node.publicKey,
      config: toContainerConfig(deployment.config),
      configBundles: deployment.bundles.map((bundle) => ({ ...bundle, config: toContainerConfig(bundle.config) })),
      instances: await listInstances(app, deployment.id),
    }
  }
  return relations
}

async function listInstances(app: App, deploymentId: string) {
  const rows = await sql`select inst.id, c.id as config_id, i.name as image_name, ic.id as image_config_id,
      jsonb_path_query_array(c.fields, '$.secrets[*].key') as secret_keys,
      jsonb_path_query_array(ic.fields, '$.secrets[*].key') as image_secret_keys,
      coalesce(nullif(c.fields->>'name', ''), nullif(dc.fields->>'name', ''), (
          select bc.fields->>'name' from crux.deployment_config_bundle link
          join crux.container_config bc on bc.config_bundle_id = link.config_bundle_id
          where link.deployment_id = inst.deployment_id and nullif(bc.fields->>'name', '') is not null
          order by link."order" desc limit 1), nullif(ic.fields->>'name', '')) as container_name
    from crux.instance inst
    join crux.image i on i.id = inst.image_id
    join crux.container_config c on c.instance_id = inst.id
    join crux.container_config ic on ic.image_id = i.id
    left join crux.container_config dc on dc.deployment_id = inst.deployment_id
    where inst.deployment_id = ${deploymentId} order by i."order", i.id`.rows<InstanceRow>(app.database.pool)
  return rows.map((row) => ({ ...row, containerName: row.containerName ?? defaultContainerName(row.imageName) }))
}
