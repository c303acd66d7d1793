import { type Body, type ConfigBundle, CruxError, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import { changeConfig, type PatchOutcome, publishChange, toContainerConfig } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { bundleCreated, bundleRemoved, bundleRenamed } from './events.ts'
import * as store from './store.ts'

export const listBundles = (app: App, { team }: Caller): Promise<ConfigBundle[]> =>
  store.selectBundles(app.database.pool, team.id)

export async function getBundle(app: App, { team }: Caller, id: string): Promise<ResponseInput<'config-bundles.get'>> {
  const { config, ...bundle } = await findBundle(app.database.pool, team, id)
  return { ...bundle, config: toContainerConfig(config) }
}

/** @throws CruxError alreadyExists `name` */
export async function createBundle(
  app: App,
  { team, actor }: Caller,
  body: Body<'config-bundles.create'>,
): Promise<ResponseInput<'config-bundles.create'>> {
  const { name, description } = body
  const id = await store.insertBundle(app.database.pool, {
    teamId: team.id,
    name,
    description: description || null,
    userId: actor.id,
  })
  bundleCreated(app, { teamId: team.id, configBundleId: id })
  return getBundle(app, { team, actor }, id)
}

/** Changes name, description and configuration together or not at all; the configuration follows the rules of every layer. */
export async function changeBundle(
  app: App,
  caller: Caller,
  id: string,
  { name, description, config, typing }: Body<'config-bundles.update'>,
): Promise<void> {
  const { team, actor } = caller
  const outcome = await inTransaction(app.database, async (queries): Promise<PatchOutcome | undefined> => {
    const { configId } = await findBundle(queries, team, id)
    const changed = config && (await changeConfig(queries, caller, configId, () => ({ config, typing })))
    if (name !== undefined || description !== undefined)
      await store.updateBundle(queries, id, { name, description, userId: actor.id })
    return changed
  })
  if (outcome) publishChange(app, outcome)
  if (name !== undefined || description !== undefined) bundleRenamed(app, { teamId: team.id, configBundleId: id })
}

export async function removeBundle(app: App, { team }: Caller, id: string): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    if (!(await store.lockBundle(queries, team.id, id))) throw bundleNotFound(id)
    const { deploymentCount } = await findBundle(queries, team, id)
    if (deploymentCount > 0) throw bundleInUse(id, deploymentCount)
    await store.deleteBundle(queries, id)
  })
  bundleRemoved(app, { teamId: team.id, configBundleId: id })
}

/** @throws CruxError notFound */
export async function findBundle(queries: Queries, team: TeamContext, id: string): Promise<store.BundleRow> {
  const row = await store.selectBundle(queries, team.id, id)
  if (!row) throw bundleNotFound(id)
  return row
}

const bundleNotFound = (id: string) => new CruxError('notFound', { property: 'configBundleId', value: id })

const bundleInUse = (id: string, count: number) =>
  new CruxError('preconditionFailed', {
    property: 'id',
    value: id,
    description:
      count === 1
        ? 'One deployment carries this bundle: take it off there first.'
        : `${count} deployments carry this bundle: take it off there first.`,
  })
