import { CruxError, type FreezeWindowWrite, limits, type ResponseInput } from '@crux/contract'
import { findFreezeProblems } from '@crux/rules'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordEvent } from '../system/index.ts'
import { freezesChanged } from './events.ts'
import * as store from './store.ts'
import { lockStarts } from './windows.ts'

type WindowPath = store.EnvironmentPath & { windowId: string }

/** @throws CruxError notFound; invalidArgument with the property; preconditionFailed `freezeWindows` when there are too many */
export async function createFreezeWindow(
  app: App,
  { team, actor }: Caller,
  path: store.EnvironmentPath,
  write: FreezeWindowWrite,
): Promise<ResponseInput<'packages.create-freeze-window'>> {
  assertUsable(write)
  const { created, nodeId } = await inTransaction(app.database, async (queries) => {
    const { nodeId } = await lockTarget(queries, team, path)
    const { length } = await store.selectWindows(queries, path.environmentId)
    if (length >= limits.freezeWindows)
      throw new CruxError('preconditionFailed', {
        property: 'freezeWindows',
        description: `There are ${length} freeze windows already: delete one, such as one that has ended.`,
      })
    const id = await store.insertWindow(queries, path.environmentId, { ...write, userId: actor.id })
    const created = (await store.selectWindows(queries, path.environmentId)).find((window) => window.id === id)
    return { created, nodeId }
  })
  if (!created) throw new Error('the freeze window was stored, but not found')
  windowsChanged(app, { nodeId, teamId: team.id, ...path, windowId: created.id }, 'freeze window created')
  return created
}

/** @throws CruxError notFound; invalidArgument with the property */
export async function updateFreezeWindow(
  app: App,
  { team, actor }: Caller,
  path: WindowPath,
  write: FreezeWindowWrite,
): Promise<void> {
  assertUsable(write)
  const { nodeId } = await inTransaction(app.database, async (queries) => {
    const target = await lockTarget(queries, team, path)
    if (!(await store.updateWindow(queries, path, { ...write, userId: actor.id }))) throw windowNotFound(path)
    return target
  })
  windowsChanged(app, { nodeId, teamId: team.id, ...path }, 'freeze window changed')
}

/** @throws CruxError notFound */
export async function deleteFreezeWindow(app: App, { team }: Caller, path: WindowPath): Promise<void> {
  const { nodeId } = await inTransaction(app.database, async (queries) => {
    const target = await lockTarget(queries, team, path)
    if (!(await store.deleteWindow(queries, path))) throw windowNotFound(path)
    return target
  })
  windowsChanged(app, { nodeId, teamId: team.id, ...path }, 'freeze window deleted')
}

/** The environment comes first, because it names the target. */
async function lockTarget(queries: Queries, team: TeamContext, path: store.EnvironmentPath): Promise<store.Target> {
  const target = await store.lockEnvironment(queries, team.id, path)
  if (!target) throw new CruxError('notFound', { property: 'environmentId', value: path.environmentId })
  await lockStarts(queries, target)
  return target
}

function windowsChanged(app: App, which: WindowPath & { teamId: string; nodeId: string }, message: string): void {
  freezesChanged(app, [which.nodeId])
  recordEvent(app, which, message)
}

function assertUsable(write: FreezeWindowWrite): void {
  const details = findFreezeProblems(write, new Date()).map((problem) => ({ ...problem, error: 'invalidArgument' }))
  const [first] = details
  if (first)
    throw new CruxError('invalidArgument', { property: first.property, description: first.description, details })
}

const windowNotFound = ({ windowId }: WindowPath) =>
  new CruxError('notFound', { property: 'windowId', value: windowId })
