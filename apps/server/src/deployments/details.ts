import type { ResponseInput } from '@crux/contract'
import { isCopiable, isDeletable, isDeployable, isMutable } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import { type AttachedBundle, toContainerConfig } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import { deploymentNotFound } from '../releases/index.ts'
import { listInstances } from './instance-store.ts'
import { findListRow, toDeployments } from './list-store.ts'
import { selectBundles, selectPageData } from './store.ts'

/** @throws CruxError notFound */
export async function getDeployment(app: App, { team }: Caller, id: string): Promise<ResponseInput<'deployments.get'>> {
  const row = await findListRow(app, team.id, id)
  if (!row) throw deploymentNotFound(id)
  const [[deployment], beside, instances] = await Promise.all([
    toDeployments(app, [row]),
    selectPageData(app.database.pool, id),
    listInstances(app, id),
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
      createdAt: new Date(beside.token.createdAt),
      createdBy: makers.get(beside.token.createdBy)?.name ?? 'Unknown user',
      createdById: beside.token.createdBy,
      expiresAt: beside.token.expiresAt && new Date(beside.token.expiresAt),
    },
    lastTry: beside.attempts,
    instances,
    mutable: isMutable(facts),
    deployable: isDeployable(facts),
    deletable: isDeletable(facts),
    copiable: isCopiable(facts),
    running: beside.running && { ...beside.running, startedAt: new Date(beside.running.startedAt) },
  }
}

/** The current bundles of a deployment, for open pages. */
export const listBundles = async (app: App, id: string): Promise<ResponseInput<'deployments.get'>['configBundles']> =>
  (await selectBundles(app.database.pool, id)).map(toBundle)

const toBundle = (bundle: AttachedBundle) => ({
  ...bundle,
  configId: bundle.config.id,
  config: toContainerConfig(bundle.config),
})
