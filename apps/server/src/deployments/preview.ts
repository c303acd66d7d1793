import type { Answer, CruxError, FinalContainerConfig } from '@crux/contract'
import { diffConfig, pauseReason, type StandingContainer, sameValue, withoutIds } from '@crux/rules'
import type { App } from '../context.ts'
import type { Queries } from '../db/transaction.ts'
import type { TeamContext } from '../http/handlers.ts'
import { type LoadedDeployment, type LoadedInstance, loadDeployment } from './load.ts'
import { preparePlace } from './prepared-place.ts'
import { checkStatus, startProblems } from './start-checks.ts'

type Preview = Answer<'deployments.preview'>
type Standing = {
  name: string
  imageName: string
  imageTag: string
  digest: string | null
  config: FinalContainerConfig
}

/** What a start would do, said before it (decisions 25 and 27): against the records of what stands, and the checks of a start. */
export async function previewStart(app: App, team: TeamContext, deploymentId: string): Promise<Preview> {
  const { pool } = app.database
  const deployment = await loadDeployment(pool, team.id, deploymentId, { lock: false })
  const standing = await standingContainers(pool, deployment)
  const checks = [
    checkStatus(deployment, 'deploy'),
    ...(await startProblems(pool, deployment, deployment.instances, { team, ignoreProtected: false, from: 'layers' })),
  ]
  // Who asks this is about to start.
  if (checks.every((problem) => !problem)) preparePlace(app, { ...deployment, nodeId: deployment.node.id })
  const containers = standing.map(({ name, config }): StandingContainer => ({ name, config }))
  const kept = new Set(deployment.instances.map((instance) => instance.config.name))
  return {
    instances: deployment.instances.map((instance) => previewInstance(deployment, instance, standing, containers)),
    removed: standing.filter((one) => !kept.has(one.name)).map((one) => `${deployment.prefix}-${one.name}`),
    problems: checks.flatMap((problem) => (problem ? toProblems(problem, deployment) : [])),
  }
}

function previewInstance(
  deployment: LoadedDeployment,
  instance: LoadedInstance,
  standing: readonly Standing[],
  containers: readonly StandingContainer[],
): Preview['instances'][number] {
  const { config, image, id } = instance
  const said = { instanceId: id, containerName: config.name }
  const old = standing.find((one) => one.name === config.name)
  const pause = pauseReason(deployment.prefix, { name: config.name, config }, containers)
  if (!old) return { ...said, action: pause ? 'replace-with-pause' : 'create', reason: pause ?? null, changes: [] }
  const changes = [
    ...(old.imageName === image.reference ? [] : [{ property: 'image', from: old.imageName, to: image.reference }]),
    ...(old.imageTag === image.tag ? [] : [{ property: 'tag', from: old.imageTag, to: image.tag }]),
    ...diffConfig(old.config, config),
  ]
  if (changes.length === 0 && sameValue(withoutIds(old.config), withoutIds(config)))
    return { ...said, action: 'keep', reason: `Unchanged, unless ${image.tag} names another image by now`, changes: [] }
  return { ...said, action: pause ? 'replace-with-pause' : 'replace', reason: pause ?? null, changes }
}

/** One entry per detail, so that the page can put each where it belongs. */
function toProblems(problem: CruxError, deployment: LoadedDeployment): Preview['problems'] {
  const details = problem.details ?? [
    { property: problem.property ?? '', error: problem.code, description: problem.message },
  ]
  return details.map((detail) => {
    const index = /^instances\[(\d+)\]/.exec(detail.property)?.[1]
    return { ...detail, instanceId: index === undefined ? null : (deployment.instances[Number(index)]?.id ?? null) }
  })
}

/** What stands at this place for this project, each container with the release that made it. */
async function standingContainers(queries: Queries, deployment: LoadedDeployment): Promise<Standing[]> {
  const { rows } = await queries.query<Standing>({
    name: 'standing containers',
    text: `select distinct on (name) ri.container_name as name, ri.image_name as "imageName", ri.image_tag as "imageTag",
        ri.digest, ri.config
      from crux.release s
      cross join lateral jsonb_array_elements_text(s.container_names) as name
      join crux.release made on made.node_id = s.node_id and made.prefix = s.prefix and made.project_id = s.project_id
        and made.status = 'successful'
      join crux.release_instance ri on ri.release_id = made.id and made.prefix || '-' || ri.container_name = name
      where s.node_id = $1 and s.prefix = $2 and s.project_id = $3 and s.standing
      order by name, made.finished_at desc nulls last`,
    values: [deployment.node.id, deployment.prefix, deployment.projectId],
  })
  return rows
}
