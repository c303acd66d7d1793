import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { Release, StoredImageSchema } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, goodNews, journal, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import type { ScriptedAgent } from '../../test/scripted-agent.ts'
import type { Queries } from '../db/queries.ts'
import { neededImages, usedImages } from './known-image-store.ts'

type Stored = MessageInitShape<typeof StoredImageSchema>
let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const getId = (letter: string) => `sha256:${letter.repeat(64)}`
const image = (letter: string, references: string[], more: Stored = {}): Stored => ({
  id: getId(letter),
  references,
  sizeBytes: 1_000n,
  createdAt: timestampFromMs(Date.UTC(2026, 0, 2)),
  ...more,
})
/** All rows that the nodes of a plan have read, times their loops, including those that a filter removed. */
type Plan = { 'Actual Rows': number; 'Actual Loops': number; 'Rows Removed by Filter'?: number; Plans?: Plan[] }
const getRows = ({ Plans = [], ...plan }: Plan): number =>
  (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] +
  Plans.reduce((sum, inner) => sum + getRows(inner), 0)
const fetched = { fetched: true }
const name = 'registry.example.com:5000/web'

/** A deployment target whose nth release had the digest `digest(n)`. */
async function makeTarget(releases: number) {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const config = { initContainers: [{ name: 'wait', image: 'busybox', useParentConfig: false }] }
  const preparationDigests = { 'busybox:latest': digest(7) }
  const { id } = await testEnvironment.deployment(
    await testEnvironment.version({ images: [{ name: 'web', config }] }),
    node.id,
    'shop',
  )
  for (let number = 1; number <= releases; number++) {
    await testEnvironment.start(id)
    const release = (await agent.command('deploy', number)).value as Release
    const events = goodNews(release).map((one) =>
      one.event.case === 'resolved'
        ? { event: { ...one.event, value: { ...one.event.value, digest: digest(number), preparationDigests } } }
        : one,
    )
    await agent.client.reportDeployment({ release: release.key, events: journal(events) })
    await testEnvironment.waitForStatus(id, 'successful')
  }
  return { agent, id, params: { ...testEnvironment.params, nodeId: node.id } }
}
const digest = (number: number) => `sha256:${String(number).repeat(64)}`
async function storeHolds(agent: ScriptedAgent, nth: number, images: Stored[]) {
  const { commandId } = await agent.command('listImages', nth)
  await agent.respond(commandId, { case: 'images', value: { images } })
}

describe('images of a node', () => {
  it('are distinguished by what needs them (containers, the last three releases, nothing) and by their origin', async () => {
    const { agent, params } = await makeTarget(5)
    const asked = testEnvironment.client.call('nodes.images', { params })
    await storeHolds(agent, 1, [
      image('a', [`${name}@${digest(5)}`], { ...fetched, containers: ['shop-web'] }),
      image('b', [`${name}@${digest(3)}`, `${name}:old`], fetched),
      image('c', [`${name}@${digest(2)}`], fetched),
      image('d', ['postgres:16']),
      image('e', ['busybox:latest']),
      image('f', [`busybox@${digest(7)}`], fetched),
      image('1', ['of/a-deleted-deployment:1'], fetched),
      image('0', [`${name}@${digest(1)}`]),
    ])
    const { images, reclaimableBytes } = await asked
    // Images of others: names and size.
    expect(images.filter(({ id }) => id === '')).toEqual([
      { id: '', references: ['postgres:16'], sizeBytes: 1_000, createdAt: null, state: 'foreign', neededBy: null },
      { id: '', references: ['busybox:latest'], sizeBytes: 1_000, createdAt: null, state: 'foreign', neededBy: null },
    ])
    const ours = images.filter(({ id }) => id !== '')
    expect(ours.map(({ id, state, neededBy }) => [id[7], state, neededBy?.replace(/shop \w+/, 'shop')])).toEqual([
      ['0', 'foreign', undefined],
      ['1', 'unneeded', undefined],
      ['a', 'running', 'shop-web'],
      ['b', 'needed', 'shop 1.0.0 as shop, release 3'],
      ['c', 'unneeded', undefined],
      ['f', 'needed', 'shop 1.0.0 as shop, release 5'],
    ])
    expect(reclaimableBytes).toBe(2_000)
    expect(ours[2]).toMatchObject({ sizeBytes: 1_000, createdAt: '2026-01-02T00:00:00.000Z' })
  })

  it('are needed by a release in progress before its digest is known', async () => {
    const { agent, id, params } = await makeTarget(0)
    await testEnvironment.start(id)
    await agent.command('deploy')
    const asked = testEnvironment.client.call('nodes.images', { params })
    await storeHolds(agent, 1, [image('a', [`${name}:1.0`]), image('b', ['busybox:latest'])])
    expect((await asked).images.map(({ state }) => state)).toEqual(['needed', 'needed'])
  })

  it('are hidden from users if neither the agent fetched them nor a container or release of the team has them', async () => {
    const { agent, params } = await makeTarget(1)
    const user = server.client(await server.addMember(testEnvironment.team, 'user'))
    const asked = user.call('nodes.images', { params })
    await storeHolds(agent, 1, [
      image('a', [`${name}@${digest(1)}`, 'theirs/private:1']),
      image('b', ['loaded:1'], { containers: ['shop-db'] }),
      image('c', ['fetched:1'], { ...fetched, usedByOthers: true }),
      image('d', ['theirs/private:2'], { usedByOthers: true }),
      image('e', [`${name}:1.0`]),
    ])
    expect((await asked).images.map(({ id, references, state }) => [id[7], references, state])).toEqual([
      // Found by the release's digest, under the names that the release has.
      ['a', [`${name}@${digest(1)}`], 'needed'],
      ['b', ['loaded:1'], 'running'],
      ['c', ['fetched:1'], 'unneeded'],
    ])
    const seen = testEnvironment.client.call('nodes.images', { params })
    await storeHolds(agent, 2, [image('c', ['fetched:1'], { ...fetched, usedByOthers: true })])
    expect((await seen).images).toMatchObject([{ state: 'needed', neededBy: "A container that is not this team's" }])
  })

  it('are identified without reading the releases of a node one by one, however many there were', async () => {
    const { id, params } = await makeTarget(2)
    const { pool } = server.app.database
    const { rows } = await pool.query<{ id: string }>(
      `insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name,
         status, started_by_id, started_by_name, started_at, finished_at)
       select id, n, team_id, project_id, node_id, prefix, '1', 'p',
         (array['successful', 'failed'])[1 + (n > 50000)::int], 's', 's', at, at
       from crux.deployment, generate_series(10, 100009) n,
         lateral (select now() - interval '1 year' + n * interval '1 second' as at) as time
       where id = $1 returning id`,
      [id],
    )
    await pool.query(
      `insert into crux.release_instance (release_id, instance_id, "order", container_name, image_name, image_tag, digest, config)
       select id, id, 0, 'web', 'app', '1', 'sha256:' || id, '{}' from unnest($1::uuid[]) as id`,
      [rows.map((row) => row.id)],
    )
    await pool.query(
      `insert into crux.node_image (node_id, digest, name) select $1, 'sha256:' || id, 'app' from unnest($2::uuid[]) as id`,
      [params.nodeId, rows.map((row) => row.id)],
    )
    await pool.query('analyze crux.release, crux.release_instance, crux.node_image')
    const read: number[] = []
    const explained: Queries = {
      async query(asked: { text: string; values: unknown[] }) {
        const plan = await pool.query(`explain (analyze, format json) ${asked.text}`, asked.values)
        read.push(getRows(plan.rows[0]['QUERY PLAN'][0].Plan))
        return pool.query({ text: asked.text, values: asked.values })
      },
    } as Queries
    const needed = await neededImages(explained, params.nodeId)
    const used = await usedImages(explained, params.nodeId, [digest(1), `sha256:${rows[0]?.id}`, digest(9)])
    expect(needed.map(({ name: of, digest: found }) => [of, found?.slice(7, 9)]).sort()).toContainEqual([name, '22'])
    expect(used.map(({ name: of }) => of).sort()).toEqual(['app', name])
    for (const count of read) expect(count).toBeLessThan(200)
  })

  it('are removed one by one as selected, after server and agent have checked them again', async () => {
    const { agent, params } = await makeTarget(5)
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map(getId)
    const asked = testEnvironment.client.call('nodes.prune-images', {
      params,
      body: { imageIds: [...ids, getId('c')] },
    })
    await storeHolds(agent, 1, [
      image('a', [`${name}@${digest(5)}`], { ...fetched, containers: ['shop-web'] }),
      image('b', [`${name}@${digest(3)}`], fetched),
      image('c', [`${name}@${digest(2)}`], fetched),
      image('d', [`${name}@${digest(1)}`], fetched),
      image('e', ['postgres:16']),
    ])
    const { commandId, value } = await agent.command('removeImages')
    expect((value as { imageIds: string[] }).imageIds).toEqual([getId('c'), getId('d')])
    const kept = [{ imageId: getId('d'), reason: 'The container late has it' }]
    const removed = { imageIds: [getId('c')], freedBytes: 900n, kept }
    await agent.respond(commandId, { case: 'removedImages', value: removed })
    const answer = await asked
    expect(answer).toMatchObject({ removed: [getId('c')], freedBytes: 900 })
    expect(answer.kept.map(({ id, reason }) => [id[7], reason.replace(/shop \w+ 1/, 'shop 1')])).toEqual([
      ['a', 'shop-web needs it'],
      ['b', 'shop 1.0.0 as shop, release 3 needs it'],
      ['e', 'It was not brought by Crux'],
      ['f', 'It is not on the node any more'],
      ['d', 'The container late has it'],
    ])
  })

  it('are requested from a connected node of the own team, by ids only, and removed by admins', async () => {
    const { agent, params } = await makeTarget(0)
    const prune = (client: DeployTestEnvironment['client'], imageIds: string[], at = params) =>
      client.call('nodes.prune-images', { params: at, body: { imageIds } })
    await expect(
      server.request(`/api/${testEnvironment.team.slug}/nodes/${params.nodeId}/images/prune`, {
        method: 'POST',
        as: testEnvironment.owner,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ imageIds: ['postgres:16'] }),
      }),
    ).resolves.toMatchObject({ status: 400 })
    const user = server.client(await server.addMember(testEnvironment.team, 'user'))
    await expect(prune(user, [getId('a')])).rejects.toMatchObject({ status: 403 })
    const foreign = { ...params, nodeId: (await (await makeDeployTestEnvironment(server)).node()).id }
    await expect(prune(testEnvironment.client, [getId('a')], foreign)).rejects.toMatchObject({
      status: 404,
      property: 'id',
    })
    agent.cut()
    const away = { ...params, nodeId: (await testEnvironment.node()).id }
    await expect(testEnvironment.client.call('nodes.images', { params: away })).rejects.toMatchObject({ status: 404 })
  })
})
