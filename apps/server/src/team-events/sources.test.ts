import { randomUUID } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  goodNews,
  journal,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { type CountedRegistry, makeFollowing, startCountedRegistry } from '../../test/follow-kit.ts'
import { harborEvent, toDigest } from '../../test/kit/hook-payloads.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import type { TeamEvent, TeamEventOf, TeamEventType } from './index.ts'

let server: TestServer
let second: TestServer
let real: Registry
let registry: CountedRegistry
let fixture: DeployTestEnvironment

beforeAll(async () => {
  real = await startRegistry()
  registry = await startCountedRegistry(real)
  server = await startTestServer()
  second = await startTestServer({ database: server.database, people: server.people })
  fixture = await makeDeployTestEnvironment(server)
})
afterAll(async () => {
  await second.stop({ database: true })
  await server.stop()
  await registry.stop()
  await real.remove()
})

const query = (text: string, values: unknown[] = []) => server.app.database.pool.query(text, values)

/** The recorded events of a kind whose JSON contains the text, oldest first. */
async function recorded<T extends TeamEventType>(type: T, contains: string): Promise<TeamEventOf<T>[]> {
  const { rows } = await query(
    `select data from jobs.job where name = 'team-event' and data ->> 'type' = $1 and data::text like $2
     order by created_on, id`,
    [type, `%${contains}%`],
  )
  return rows.map(({ data }: { data: TeamEvent }) => data as TeamEventOf<T>)
}

describe('the end of a release', () => {
  async function makeRelease() {
    const node = await fixture.node()
    const agent = await fixture.agent(node)
    const deployment = await fixture.deployment(await fixture.version({ name: '2.1.0' }), node.id)
    await fixture.start(deployment.id)
    return { node, agent, deployment }
  }

  it('is one event with the names of project, version, node and starter, also when the journal is reported again', async () => {
    const { node, agent, deployment } = await makeRelease()
    const release = (await agent.command('deploy')).value as Release
    const report = { release: release.key, events: journal(goodNews(release)) }
    await agent.client.reportDeployment(report)
    await agent.client.reportDeployment(report)
    await fixture.waitForStatus(deployment.id, 'successful')
    const [event, ...more] = await recorded('deployment-status', deployment.id)
    expect(more).toEqual([])
    expect(event).toMatchObject({
      teamId: fixture.team.id,
      deploymentId: deployment.id,
      releaseNumber: 1,
      successful: true,
      versionName: '2.1.0',
      nodeId: node.id,
      nodeName: node.name,
      by: 'Ada',
    })
    expect(event?.projectName).toMatch(/^shop /)
    expect(event?.reason).toBeUndefined()
    agent.cut()
  })

  it('of a failure has its reason', async () => {
    const { agent, deployment } = await makeRelease()
    const release = (await agent.command('deploy')).value as Release
    await agent.client.reportDeployment({ release: release.key, events: journal(badNews('no room on the disk')) })
    await fixture.waitForStatus(deployment.id, 'failed')
    expect(await recorded('deployment-status', deployment.id)).toMatchObject([
      { successful: false, reason: 'no room on the disk' },
    ])
    agent.cut()
  })

  it('of a release that was cancelled before its agent got it names the user', async () => {
    const node = await fixture.node()
    const deployment = await fixture.deployment(await fixture.version(), node.id)
    const running = await fixture.agent(node)
    await fixture.start(deployment.id)
    await running.command('deploy')
    const waiting = await fixture.deployment(await fixture.version(), node.id, deployment.prefix)
    await fixture.start(waiting.id)
    await fixture.client.call('deployments.cancel', { params: { ...fixture.params, deploymentId: waiting.id } })
    expect(await recorded('deployment-status', waiting.id)).toMatchObject([
      { successful: false, reason: 'cancelled by Ada' },
    ])
    running.cut()
  })

  it('of an expired lease is corrected by a second event when the agent reports a success, and not repeated for a failure', async () => {
    const ends = [goodNews, () => badNews('it stopped')]
    for (const [index, news] of ends.entries()) {
      const { node, agent, deployment } = await makeRelease()
      const release = (await agent.command('deploy')).value as Release
      agent.cut()
      await until(async () => {
        const { rows } = await query('select link_server from crux.node where id = $1', [node.id])
        return rows[0].linkServer === null
      })
      await query(`update crux.release set lease_until = now() - interval '1 second' where deployment_id = $1`, [
        deployment.id,
      ])
      await until(async () => (await recorded('deployment-status', deployment.id)).length === 1, 15_000)
      const openReleases = [{ deploymentId: deployment.id, number: 1 }]
      const back = await fixture.agent(node, { openReleases })
      await back.client.reportDeployment({ release: release.key, events: journal(news(release)) })
      await fixture.waitForStatus(deployment.id, index === 0 ? 'successful' : 'failed')
      const events = await recorded('deployment-status', deployment.id)
      expect(events.map(({ successful }) => successful)).toEqual([false, index === 0])
      expect(new Set(events.map(({ key }) => key)).size).toBe(index === 0 ? 2 : 1)
      back.cut()
    }
  })
})

describe('what members create', () => {
  it('is an event for each version that is created, increased or imported, and none for a refused one', async () => {
    const { client, params } = fixture
    const project = await client.call('projects.create', { params, body: { name: 'Chains', type: 'versioned' } })
    const at = { ...params, projectId: project.id }
    const body = { name: '1.0', type: 'incremental' as const }
    const first = await client.call('versions.create', { params: at, body })
    await expect(client.call('versions.create', { params: at, body })).rejects.toMatchObject({ status: 409 })
    const next = await client.call('versions.increase', {
      params: { ...at, versionId: first.id },
      body: { name: '1.1' },
    })
    const imported = await client.call('versions.import', {
      params: at,
      body: {
        name: '2.0',
        type: 'incremental',
        images: [{ registryId: await fixture.registry({ local: true }), name: 'web', tag: '1.0' }],
      },
    })
    const created = await recorded('version-created', project.id)
    expect(
      created.map(({ versionId, versionName, projectName, by }) => [versionId, versionName, projectName, by]),
    ).toEqual([
      [first.id, '1.0', 'Chains', 'Ada'],
      [next.id, '1.1', 'Chains', 'Ada'],
      [imported.id, '2.0', 'Chains', 'Ada'],
    ])
  })

  it('is an event for a node, and none for a node whose name is taken', async () => {
    const { client, params } = fixture
    const { id } = await client.call('nodes.create', { params, body: { name: 'Rack 7' } })
    await expect(client.call('nodes.create', { params, body: { name: 'Rack 7' } })).rejects.toMatchObject({
      status: 409,
    })
    expect(await recorded('node-added', 'Rack 7')).toMatchObject([{ nodeId: id, nodeName: 'Rack 7', by: 'Ada' }])
  })
})

describe('images of a registry', () => {
  async function makeRegistry(imageNamePrefix: string | null = null) {
    const { rows } = await query(
      `insert into crux.registry (team_id, name, type, url, image_name_prefix, created_by, updated_by)
       values ($1, $2, 'v2', 'registry.example.com', $3, 'test', 'test') returning id`,
      [fixture.team.id, `Registry ${randomUUID()}`, imageNamePrefix],
    )
    const params = { ...fixture.params, registryId: rows[0].id as string }
    const { token } = await fixture.client.call('registries.create-token', { params, body: {} })
    const post = async (events: unknown[], to: TestServer = server) => {
      const { status } = await to.request(`/api/${params.teamSlug}/registries/${params.registryId}/hooks/v2`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ events }),
      })
      expect(status).toBe(204)
    }
    return { ...params, post }
  }
  const setListener = (events: string[], active = true) =>
    query(
      `insert into crux.notification (team_id, name, type, active, enabled_events, created_by, updated_by)
       values ($1, 'Listener', 'slack', $3, $2, 'test', 'test')
       on conflict (team_id, name) do update set active = $3, enabled_events = $2`,
      [fixture.team.id, events, active],
    )
  const entry = (repository: string, more: { id?: string; action?: string; tag?: string; useragent?: string } = {}) => {
    const { id = randomUUID(), action = 'push', tag, useragent = 'docker/28' } = more
    return {
      id,
      action,
      target: { repository, ...(tag && { tag }), digest: toDigest(repository) },
      request: { useragent },
    }
  }

  it('are events where something waits for them: each delivery once, also when two servers get it', async () => {
    await setListener(['image-pushed'])
    const at = await makeRegistry()
    const push = entry('shop/web', { tag: '1.2' })
    await Promise.all([at.post([push]), at.post([push], second), at.post([push, push])])
    await at.post([entry('shop/web', { tag: '1.2' })])
    expect(await recorded('image-pushed', at.registryId)).toMatchObject(
      Array(2).fill({ imageName: 'shop/web', tag: '1.2', digest: toDigest('shop/web'), registryId: at.registryId }),
    )
    await setListener([])
    await at.post([entry('shop/web', { tag: '1.3' })])
    expect(await recorded('image-pushed', at.registryId)).toHaveLength(2)
  })

  it('are no events without a tag, outside of the listed part, by our own requests, or when deleted', async () => {
    await setListener(['image-pushed', 'image-pulled'])
    const at = await makeRegistry('shop')
    await at.post([
      entry('shop/web'),
      entry('elsewhere/web', { tag: '1' }),
      entry('shop/web', { tag: '1', useragent: 'crux/1.0' }),
      entry('shop/web', { tag: '1', action: 'pull', useragent: 'crux/1.0' }),
      entry('shop/web', { tag: '1', action: 'delete' }),
    ])
    expect([
      ...(await recorded('image-pushed', at.registryId)),
      ...(await recorded('image-pulled', at.registryId)),
    ]).toEqual([])
  })

  it('that are pulled are events only while an active notification or a watcher waits for them, and are never listed', async () => {
    const at = await makeRegistry()
    const pull = () => entry('shop/web', { tag: '1.2', action: 'pull' })
    await setListener(['image-pulled'], false)
    await at.post([pull()])
    expect(await recorded('image-pulled', at.registryId)).toEqual([])
    const keys = await query('select from crux.registry_delivery_key where registry_id = $1', [at.registryId])
    expect(keys.rowCount).toBe(0)
    await setListener(['image-pulled'])
    const once = pull()
    await at.post([once])
    await at.post([once], second)
    expect(await recorded('image-pulled', at.registryId)).toHaveLength(1)
    await setListener([])
    const { rows } = await query(
      `insert into crux.pipeline (team_id, name, type, organization, project, trigger_name, token, created_by, updated_by)
       values ($1, $2, 'github', 'o', 'p', 't', 'sealed', 'test', 'test') returning id`,
      [fixture.team.id, randomUUID()],
    )
    await query(
      `insert into crux.pipeline_event_watcher (pipeline_id, name, registry_id, event, created_by, updated_by)
       values ($1, 'Watcher', $2, 'image-pull', 'test', 'test')`,
      [rows[0].id, at.registryId],
    )
    await at.post([pull()])
    expect(await recorded('image-pulled', at.registryId)).toHaveLength(2)
    const params = { teamSlug: at.teamSlug, registryId: at.registryId }
    expect(await fixture.client.call('registries.list-deliveries', { params })).toEqual([])
    await query('delete from crux.pipeline where id = $1', [rows[0].id])
  })

  it('of Harbor are pulled events too', async () => {
    await setListener(['image-pulled'])
    const { teamSlug, registryId } = await makeRegistry()
    const params = { teamSlug, registryId }
    const { url, secret } = await fixture.client.call('registries.create-hook-secret', {
      params: { ...params, kind: 'harbor' },
    })
    const artifact = { project: 'library', name: 'debian', tag: '12', digest: toDigest('debian') }
    const answer = await server.request(url.replace(server.url, ''), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: secret },
      body: JSON.stringify(harborEvent('PULL_ARTIFACT', artifact)),
    })
    expect(answer.status).toBe(204)
    expect(await recorded('image-pulled', registryId)).toMatchObject([{ imageName: 'library/debian', tag: '12' }])
    expect(await fixture.client.call('registries.list-deliveries', { params })).toEqual([])
  })

  it('are at most 50 events of one request', async () => {
    await setListener(['image-pushed'])
    const at = await makeRegistry()
    await at.post(Array.from({ length: 120 }, (_, index) => entry('shop/web', { tag: `v${index}` })))
    expect(await recorded('image-pushed', at.registryId)).toHaveLength(50)
    await setListener([])
  })
})

describe('a followed tag', () => {
  it('leads to one event per new digest however many servers check it, and to none for its first one', async () => {
    const followed = await makeFollowing(fixture, registry)
    await followed.switchTo('notify')
    const isKnown = (digest: string) =>
      until(async () => {
        const { rowCount } = await query(
          'select from crux.followed_tag where registry_id = $1 and digest = $2 and claimed_at is null',
          [followed.registryId, digest],
        )
        return rowCount === 1
      })
    await isKnown(followed.digest)
    expect(await recorded('image-digest-changed', followed.registryId)).toEqual([])
    const digest = await registry.push(followed.name)
    followed.event()
    followed.event(second)
    await isKnown(digest)
    followed.event()
    await until(async () => (await recorded('image-digest-changed', followed.registryId)).length > 0)
    expect(await recorded('image-digest-changed', followed.registryId)).toMatchObject([
      { imageName: followed.name, tag: '1.0', digest, teamId: fixture.team.id },
    ])
    followed.agent.cut()
  })
})

it('a deployment that ends while no event can be stored does not end either', async () => {
  const node = await fixture.node()
  const agent = await fixture.agent(node)
  const deployment = await fixture.deployment(await fixture.version(), node.id)
  await fixture.start(deployment.id)
  const { jobs } = server.app
  const send = jobs.send
  jobs.send = async () => {
    throw new Error('the queue is away')
  }
  const refused = deployWell(agent)
  await expect(refused).rejects.toThrow()
  jobs.send = send
  expect((await fixture.get(deployment.id)).status).toBe('in-progress')
  expect(await recorded('deployment-status', deployment.id)).toEqual([])
  agent.cut()
})
