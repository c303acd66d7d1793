import { randomBytes } from 'node:crypto'
import type { BodyInput } from '@crux/contract'
import type { DeployTestEnvironment } from './deploy-kit.ts'

export type FreezeWrite = BodyInput<'packages.create-freeze-window'>
const dayMs = 86_400_000

/** A time that is this many days away. */
export const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString()

/** A window that freezes now, for a day. */
export const frozenNow = (reason = 'Release week'): FreezeWrite => ({
  kind: 'once',
  reason,
  from: inDays(-1),
  to: inDays(1),
})

/** Inserts an environment of a package directly, as its domain does it. */
export async function makeEnvironment(
  {
    server,
    team,
    owner,
    client,
    params,
  }: Pick<DeployTestEnvironment, 'server' | 'team' | 'owner' | 'client' | 'params'>,
  target: { nodeId: string; prefix: string },
) {
  const { pool } = server.app.database
  const name = `Package ${randomBytes(3).toString('hex')}`
  const insert = async (text: string, values: unknown[]): Promise<string> => (await pool.query(text, values)).rows[0].id
  const packageId = await insert(
    'insert into crux.package (team_id, name, created_by, updated_by) values ($1, $2, $3, $3) returning id',
    [team.id, name, owner.id],
  )
  const environmentId = await insert(
    `insert into crux.package_environment (package_id, name, node_id, prefix, "order", created_by, updated_by)
     values ($1, 'prod', $2, $3, 0, $4, $4) returning id`,
    [packageId, target.nodeId, target.prefix, owner.id],
  )
  const path = { ...params, packageId, environmentId }
  return {
    name: `${name} prod`,
    path,
    freeze: (body: FreezeWrite = frozenNow(), as = client) =>
      as.call('packages.create-freeze-window', { params: path, body }),
    update: (windowId: string, body: FreezeWrite, as = client) =>
      as.call('packages.update-freeze-window', { params: { ...path, windowId }, body }),
    remove: (windowId: string, as = client) =>
      as.call('packages.delete-freeze-window', { params: { ...path, windowId } }),
  }
}
