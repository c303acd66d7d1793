import type { Release } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { badNews, type DeployTestEnvironment, journal, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer } from '../../test/kit/index.ts'
import { makePackageKit, makePackageSystem, named, type PackageKit } from '../../test/package-kit.ts'
import { recordTeamEvent } from '../team-events/index.ts'

let crux: TestServer
let ours: DeployTestEnvironment
let user: Someone
let kit: PackageKit
beforeAll(async () => {
  crux = await startTestServer()
  ours = await makeDeployTestEnvironment(crux)
  user = await crux.addMember(ours.team, 'user', 'Uma')
  kit = makePackageKit(ours, crux.client(user))
})
afterAll(async () => {
  await crux.stop()
})

const sql = <R extends object = { n: number }>(text: string, values: unknown[] = []) =>
  crux.app.database.pool.query<R>(text, values).then(({ rows }) => rows)
type Path = { teamSlug: string; packageId: string; environmentId: string }
const promote = (params: Path, versionId: string | undefined, more: object = {}, as: Client = crux.client(user)) =>
  as.call('packages.promote', { params, body: { versionId: versionId ?? '', ...more } })
const history = async (params: Path) =>
  (await kit.call('packages.promotions', { params, query: { skip: 0, take: 100 } })).items

describe('the history of an environment', () => {
  const event = (promotion: { deploymentId?: string | null | undefined; releaseNumber: number }, more: object) => ({
    type: 'deployment-status' as const,
    key: named('event'),
    teamId: ours.team.id,
    at: new Date().toISOString(),
    deploymentId: promotion.deploymentId ?? '',
    releaseNumber: promotion.releaseNumber,
    successful: true,
    projectName: 'p',
    versionName: 'v',
    nodeId: ours.team.id,
    nodeName: 'n',
    prefix: 'p',
    by: 'Uma',
    ...more,
  })
  const record = async (end: ReturnType<typeof event>) => {
    await recordTeamEvent(crux.app, crux.app.database.pool, end)
  }
  const stored = async (id: string, status: string) =>
    expect
      .poll(
        async () => (await sql<{ status: string }>('select status from crux.package_promotion where id = $1', [id]))[0],
        {
          timeout: 15_000,
        },
      )
      .toEqual({ status })
  const deleteDeployment = (id: string | null | undefined) => sql('delete from crux.deployment where id = $1', [id])

  it('lists the newest first, by pages, with the reason of a failure', async () => {
    const system = await makePackageSystem(ours, kit)
    const { params, agent } = system.dev
    const failed = await promote(params, system.versions[0])
    const { value } = await agent.command('deploy', 1)
    const { key } = value as Release
    await agent.client.reportDeployment({ release: key, events: journal(badNews('no such image')) })
    await ours.waitForStatus(failed.deploymentId ?? '', 'failed')
    const next = await promote(params, system.versions[0], { note: 'again' })
    expect(next).toMatchObject({ deploymentId: failed.deploymentId, releaseNumber: 2 })
    const page = (skip: number) => kit.call('packages.promotions', { params, query: { skip, take: 1 } })
    expect(await page(0)).toMatchObject({ total: 2, items: [{ id: next.id, status: 'in-progress', note: 'again' }] })
    expect(await page(1)).toMatchObject({
      total: 2,
      items: [{ id: failed.id, status: 'failed', reason: 'no such image', finishedAt: expect.any(String) }],
    })
    expect(await page(2)).toEqual({ total: 2, items: [] })
  })

  it('keeps the end of a release whose deployment was deleted, and is unknown where it was deleted before', async () => {
    const system = await makePackageSystem(ours, kit)
    const known = await promote(system.dev.params, system.versions[0])
    const unknown = await promote(system.prod.params, system.versions[0])
    await record(event(known, { successful: false, reason: 'no such image' }))
    await stored(known.id, 'failed')
    await deleteDeployment(known.deploymentId)
    await deleteDeployment(unknown.deploymentId)
    const [entry] = await history(system.dev.params)
    expect(entry).toMatchObject({ status: 'failed', reason: 'no such image', version: { name: '1' } })
    expect(entry?.deploymentId ?? null).toBeNull()
    const [lost] = await history(system.prod.params)
    expect(lost).toMatchObject({ status: 'unknown', version: { id: system.versions[0] } })
    expect(lost?.deploymentId ?? null).toBeNull()
  })

  it('is written once however often the end is reported, keeps the corrected end, and ignores other events', async () => {
    const system = await makePackageSystem(ours, kit)
    const promoted = await promote(system.dev.params, system.versions[0])
    const [early, late] = [new Date(1_000_000).toISOString(), new Date(2_000_000).toISOString()]
    await record(event(promoted, { successful: true, at: late }))
    await stored(promoted.id, 'successful')
    // Reported again by another server, and late.
    await record(event(promoted, { successful: false, reason: 'lease', at: early }))
    await record(event({ ...promoted, releaseNumber: 2 }, { successful: false, at: late }))
    const marker = await promote(system.prod.params, system.versions[0])
    await record(event(marker, { successful: false, at: late }))
    await stored(marker.id, 'failed')
    await stored(promoted.id, 'successful')
  })

  it('keeps the names of deleted versions, projects and environments', async () => {
    const system = await makePackageSystem(ours, kit)
    await system.dev.run(0, 1)
    const promoted = await promote(system.prod.params, system.versions[0], {
      fromEnvironmentId: system.dev.params.environmentId,
    })
    await kit.call('packages.delete-environment', { params: system.dev.params })
    await sql('delete from crux.project where id = $1', [system.projectId])
    const [entry] = await history(system.prod.params)
    expect(entry).toMatchObject({
      id: promoted.id,
      version: { name: '1' },
      project: { name: promoted.project.name },
      from: { name: 'dev' },
      status: 'unknown',
    })
    expect([entry?.version.id ?? null, entry?.project.id ?? null, entry?.from?.id ?? null]).toEqual([null, null, null])
  })
})
