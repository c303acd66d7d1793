import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { blockRegistry, storeCheck, syncTags } from './tag-store.ts'

const intervalMs = 300_000
let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

class RolledBack extends Error {}

/** Nothing of it is committed, so that the server does not check these tags itself. */
async function rolledBack(work: (queries: Queries) => Promise<void>): Promise<void> {
  const transaction = inTransaction(server.app.database, async (queries) => {
    await work(queries)
    throw new RolledBack()
  })
  await expect(transaction).rejects.toBeInstanceOf(RolledBack)
}

/** A team of its own whose deployment follows so many tags of one registry. */
async function followTags(queries: Queries, count: number) {
  const testEnvironment = await makeDeployTestEnvironment(server)
  const registryId = await testEnvironment.registry()
  const node = await testEnvironment.node()
  const version = await testEnvironment.version({ images: [{ name: 'web', registryId }] })
  const { id: deploymentId } = await testEnvironment.deployment(version, node.id)
  await queries.query(
    `with added as (
       insert into crux.image (version_id, registry_id, name, tag, "order", created_by, updated_by)
       select version_id, registry_id, 'web-' || n, '1', n, created_by, updated_by
       from crux.image, generate_series(1, $2) n where id = $1 returning id)
     insert into crux.instance (deployment_id, image_id, follow) select $3, id, 'notify' from added`,
    [version.imageIds[0], count, deploymentId],
  )
  return registryId
}

async function waits(queries: Queries, registryId: string): Promise<number[]> {
  const { rows } = await queries.query<{ ms: number }>(
    `select extract(epoch from next_check_at - now())::float8 * 1000 as ms from crux.followed_tag
     where registry_id = $1 order by next_check_at`,
    [registryId],
  )
  return rows.map(({ ms }) => ms)
}

/** Stores a successful check of one of the tags, and returns the time until the next one. */
async function checkOne(queries: Queries, registryId: string): Promise<number> {
  const { rows } = await queries.query('select id from crux.followed_tag where registry_id = $1 limit 1', [registryId])
  const stored = await storeCheck(queries, rows[0].id, {
    digest: 'sha256:1',
    requestedBy: [],
    error: null,
    intervalMs,
  })
  return stored?.waitMs ?? Number.NaN
}

describe('the interval between two checks of a tag', () => {
  it('is the configured one for a team that follows few tags, also beside a team that follows many', () =>
    rolledBack(async (queries) => {
      await followTags(queries, 1_000)
      const registryId = await followTags(queries, 20)
      await syncTags(queries, intervalMs)
      const waitMs = await checkOne(queries, registryId)
      expect(waitMs).toBeGreaterThanOrEqual(0.9 * intervalMs)
      expect(waitMs).toBeLessThanOrEqual(1.1 * intervalMs + 1)
      expect((await waits(queries, registryId)).at(-1)).toBeLessThanOrEqual(1.1 * intervalMs + 1)
    }))

  it('grows with the tags that a team follows, so that 1,000 of them cost less than one check per second', () =>
    rolledBack(async (queries) => {
      const registryId = await followTags(queries, 1_000)
      await syncTags(queries, intervalMs)
      const spread = await waits(queries, registryId)
      expect(spread).toHaveLength(1_000)
      // They were followed at the same moment: 240 of them are expected in the first five minutes.
      expect(spread.filter((ms) => ms < intervalMs).length).toBeLessThan(300)
      expect(spread.at(-1)).toBeGreaterThan(1_000_000)
      expect(await checkOne(queries, registryId)).toBeGreaterThanOrEqual(0.9 * 1_250_000)
    }))

  it('spreads the checks of 1,000 tags that waited for the end of a limit of requests', () =>
    rolledBack(async (queries) => {
      const registryId = await followTags(queries, 1_000)
      await syncTags(queries, intervalMs)
      await queries.query('update crux.followed_tag set next_check_at = now() where registry_id = $1', [registryId])
      await blockRegistry(queries, registryId, 60_000, intervalMs)
      const spread = await waits(queries, registryId)
      expect(spread[0]).toBeGreaterThanOrEqual(60_000)
      expect(spread.at(-1)).toBeGreaterThan(60_000 + 100_000)
      expect(spread.at(-1)).toBeLessThanOrEqual(60_000 + 125_000)
    }))
})
