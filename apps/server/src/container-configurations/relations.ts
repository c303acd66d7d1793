import type { Answer } from '@crux/contract'
import { defaultContainerName } from '@crux/rules'
import type { App } from '../context.ts'
import type { TeamContext } from '../http/handlers.ts'
import { getConfig } from './actions.ts'
import { toContainerConfig } from './store.ts'

type InstanceRow = { id: string; configId: string; imageName: string; containerName: string | null }

/** What a configuration belongs to, and with an instance which containers stand beside it (backend.md 2.8). */
export async function getRelations(
  app: App,
  team: TeamContext,
  configId: string,
): Promise<Answer<'container-configurations.relations'>> {
  const { row, project, version, image, imageConfig, deployment } = await getConfig(app, team, configId)
  const relations: Answer<'container-configurations.relations'> = { project, version }
  if (image && imageConfig && row.type !== 'deployment') {
    const { rows } = await app.database.pool.query<{ id: string; name: string }>(
      'select r.id, r.name from crux.registry r join crux.image i on i.registry_id = r.id where i.id = $1',
      [image.id],
    )
    const [registry] = rows
    if (registry) relations.image = { ...image, config: toContainerConfig(imageConfig), registry }
  }
  if (deployment) {
    const { node, id, prefix, status, mutable } = deployment
    relations.deployment = {
      id,
      prefix,
      status,
      mutable,
      node: { id: node.id, name: node.name, type: node.type },
      publicKey: node.publicKey,
      instances: await instancesOf(app, id),
    }
  }
  return relations
}

async function instancesOf(app: App, deploymentId: string) {
  const { rows } = await app.database.pool.query<InstanceRow>(
    `select inst.id, c.id as "configId", i.name as "imageName",
       coalesce(nullif(c.fields->>'name', ''), nullif(dc.fields->>'name', ''), nullif(ic.fields->>'name', '')) as "containerName"
     from crux.instance inst
     join crux.image i on i.id = inst.image_id
     join crux.container_config c on c.instance_id = inst.id
     join crux.container_config ic on ic.image_id = i.id
     left join crux.container_config dc on dc.deployment_id = inst.deployment_id
     where inst.deployment_id = $1 order by i."order", i.id`,
    [deploymentId],
  )
  return rows.map((row) => ({ ...row, containerName: row.containerName ?? defaultContainerName(row.imageName) }))
}
