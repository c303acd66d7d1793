import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam
let registryId: string
let nodes: string[]
let count = 0

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp('Ada Byron')
  call = crux.client(ada).call
  team = await crux.createTeam(ada)
  const params = { teamSlug: team.slug }
  const registry = await call('registries.create', {
    params,
    body: { name: 'Anywhere', type: 'unchecked', details: { local: true } },
  })
  registryId = registry.id
  nodes = await Promise.all(
    ['One', 'Two', 'Three'].map(
      async (name) => (await call('nodes.create', { params, body: { name: `Node ${name}` } })).id,
    ),
  )
})
afterAll(() => crux.stop())

let call: ReturnType<TestServer['client']>['call']
const inTeam = () => ({ teamSlug: team.slug })

async function makeProject(type: 'versioned' | 'versionless' = 'versioned') {
  const project = await call('projects.create', { params: inTeam(), body: { name: `Project ${++count}`, type } })
  return { ...inTeam(), projectId: project.id }
}
async function makeVersion(
  project: Awaited<ReturnType<typeof makeProject>>,
  name: string,
  type: 'incremental' | 'rolling' = 'incremental',
  autoCopyDeployments?: boolean,
) {
  const version = await call('versions.create', { params: project, body: { name, type, autoCopyDeployments } })
  return { ...project, versionId: version.id }
}
type Version = Awaited<ReturnType<typeof makeVersion>>
const addImages = (params: Version, ...images: string[]) =>
  call('images.create', { params, body: [{ registryId, images }] })
const deploy = async (version: Version, node: number, prefix: string) =>
  (
    await call('deployments.create', {
      params: inTeam(),
      body: { versionId: version.versionId, nodeId: nodes[node] ?? '', prefix, note: `note of ${prefix}` },
    })
  ).id
const get = (params: Version) => call('versions.get', { params })
/** Sets the status as a release would; the tests of deployments cover the status itself. */
const setStatus = (id: string, status: string) =>
  crux.app.database.pool.query(
    `update crux.deployment set status = $2, attempts = 3, deployed_at = now() where id = $1`,
    [id, status],
  )

describe('projects', () => {
  it('that are versionless have one rolling version from the start', async () => {
    const project = await makeProject('versionless')
    const { versions, type, deletable, versionCount } = await call('projects.get', { params: project })
    expect({ type, deletable, versionCount }).toEqual({ type: 'versionless', deletable: true, versionCount: 1 })
    expect(versions).toMatchObject([{ name: 'rolling', type: 'rolling', default: true, increasable: false }])
    const create = call('versions.create', { params: project, body: { name: '1', type: 'rolling' } })
    await expect(create).rejects.toMatchObject({ status: 412, property: 'projectId' })
    const version = { ...project, versionId: versions[0]?.id ?? '' }
    await expect(call('versions.update', { params: version, body: { name: 'renamed' } })).rejects.toMatchObject({
      status: 412,
      property: 'id',
    })
    await expect(call('versions.delete', { params: version })).rejects.toMatchObject({
      status: 412,
      property: 'versionId',
    })
  })

  it('that are versionless pass their changelog to the version, others refuse one', async () => {
    const project = await makeProject('versionless')
    await call('projects.update', { params: project, body: { name: 'With changelog', changelog: 'better' } })
    expect((await call('projects.get', { params: project })).versions[0]?.changelog).toBe('better')
    const versioned = await makeProject()
    const refused = call('projects.update', { params: versioned, body: { name: 'Other name', changelog: 'x' } })
    await expect(refused).rejects.toMatchObject({ status: 412, property: 'changelog' })
  })

  it('become versioned and keep their version', async () => {
    const project = await makeProject('versionless')
    await call('projects.convert', { params: project })
    await call('projects.convert', { params: project })
    const { type, versions } = await call('projects.get', { params: project })
    expect([type, versions.map((version) => version.name)]).toEqual(['versioned', ['rolling']])
    await makeVersion(project, '1.0.0')
  })

  it('refuse a taken name, and are not deleted while a deployment is in progress', async () => {
    const project = await makeProject()
    const { name } = await call('projects.get', { params: project })
    const again = call('projects.create', { params: inTeam(), body: { name, type: 'versioned' } })
    await expect(again).rejects.toMatchObject({ status: 409, property: 'name' })
    const version = await makeVersion(project, '1.0.0')
    await addImages(version, 'a:1')
    const id = await deploy(version, 0, 'busy')
    await setStatus(id, 'in-progress')
    await expect(call('projects.delete', { params: project })).rejects.toMatchObject({ status: 412 })
    await setStatus(id, 'failed')
    await call('projects.delete', { params: project })
    const { rows } = await crux.app.database.pool.query(
      `select (select count(*)::int from crux.container_config c where not exists (select from crux.image i where i.id = c.image_id)
        and not exists (select from crux.instance i where i.id = c.instance_id)
        and not exists (select from crux.deployment d where d.id = c.deployment_id)) as orphans`,
    )
    expect(rows).toEqual([{ orphans: 0 }])
  })
})

describe('versions', () => {
  it('are found by a part of their name, and the first is the default', async () => {
    const project = await makeProject()
    await makeVersion(project, '1.0.0')
    await makeVersion(project, '1.1.0', 'rolling')
    const list = (nameContains?: string) => call('versions.list', { params: project, query: { nameContains } })
    expect((await list()).map((version) => [version.name, version.default])).toEqual([
      ['1.0.0', true],
      ['1.1.0', false],
    ])
    expect((await list('1.1')).map((version) => version.name)).toEqual(['1.1.0'])
    const taken = call('versions.create', { params: project, body: { name: '1.0.0', type: 'rolling' } })
    await expect(taken).rejects.toMatchObject({ status: 409, property: 'name' })
  })

  it('have one default, and none after its deletion until the next is created', async () => {
    const project = await makeProject()
    const first = await makeVersion(project, '1')
    const second = await makeVersion(project, '2')
    await call('versions.default', { params: second })
    const defaults = async () =>
      (await call('versions.list', { params: project })).filter((entry) => entry.default).map((entry) => entry.name)
    expect(await defaults()).toEqual(['2'])
    await call('versions.delete', { params: second })
    expect(await defaults()).toEqual([])
    await makeVersion(project, '3')
    expect(await defaults()).toEqual(['3'])
    expect((await get(first)).default).toBe(false)
  })

  it('are immutable once deployed: no change, no images, no deletion, but an increase', async () => {
    const version = await makeVersion(await makeProject(), '1.0.0')
    const [image] = await addImages(version, 'web:1')
    await setStatus(await deploy(version, 0, 'fixed'), 'successful')
    expect(await get(version)).toMatchObject({ mutable: false, deletable: false, increasable: true })
    const refused = { status: 412, property: 'versionId', description: expect.stringContaining('increase') }
    const params = { ...version, imageId: image?.id ?? '' }
    await expect(call('versions.update', { params: version, body: { name: 'x1' } })).rejects.toMatchObject(refused)
    await expect(addImages(version, 'more:1')).rejects.toMatchObject(refused)
    await expect(call('images.update', { params, body: { tag: '2' } })).rejects.toMatchObject(refused)
    await expect(call('images.delete', { params })).rejects.toMatchObject(refused)
    await expect(call('images.order', { params: version, body: [params.imageId] })).rejects.toMatchObject(refused)
    await expect(call('versions.delete', { params: version })).rejects.toMatchObject(refused)
  })

  it('are increased once, with images, configurations and the newest deployment of each deployment target', async () => {
    const version = await makeVersion(await makeProject(), '1.0.0')
    const [web, db] = await addImages(version, 'web:1', 'db:2')
    await call('images.update', { params: { ...version, imageId: web?.id ?? '' }, body: { config: { name: 'front' } } })
    const failed = await deploy(version, 0, 'here')
    await setStatus(failed, 'failed')
    const running = await deploy(version, 0, 'here')
    const preparing = await deploy(version, 1, 'there')
    const details = await call('deployments.get', { params: { ...inTeam(), deploymentId: running } })
    const patch = (configId: string, config: object) =>
      call('container-configurations.update', { params: { ...inTeam(), configId }, body: { config } })
    await patch(details.config.id, { environment: [{ key: 'PLACE', value: 'here' }] })
    const instance = details.instances.find((entry) => entry.image.id === db?.id)
    await patch(instance?.config.id ?? '', { environment: [{ key: 'DB', value: 'yes' }] })
    await setStatus(running, 'successful')

    const next = await call('versions.increase', { params: version, body: { name: '1.1.0', changelog: 'next' } })
    expect(next).toMatchObject({
      name: '1.1.0',
      type: 'incremental',
      default: false,
      changelog: 'next',
      increasable: true,
    })
    const child = await get({ ...version, versionId: next.id })
    expect(child.images.map((image) => [image.name, image.tag, image.order, image.config.name ?? null])).toEqual([
      ['web', '1', 0, 'front'],
      ['db', '2', 1, null],
    ])
    expect(child.images.map((image) => image.id)).not.toContain(web?.id)
    expect(child.deployments.map((entry) => [entry.prefix, entry.status, entry.protected, entry.note]).sort()).toEqual([
      ['here', 'preparing', false, 'note of here'],
      ['there', 'preparing', false, 'note of there'],
    ])
    const copyId = child.deployments.find((entry) => entry.prefix === 'here')?.id ?? ''
    const copy = await call('deployments.get', { params: { ...inTeam(), deploymentId: copyId } })
    expect(copy.lastTry).toBe(0)
    expect(copy.config.environment).toMatchObject([{ key: 'PLACE', value: 'here' }])
    expect(copy.instances.map((entry) => [entry.image.name, entry.config.environment?.[0]?.value ?? null])).toEqual([
      ['web', null],
      ['db', 'yes'],
    ])
    expect(new Set(copy.instances.map((entry) => entry.image.id))).toEqual(
      new Set(child.images.map((image) => image.id)),
    )
    expect([failed, running, preparing]).not.toContain(copyId)

    const again = call('versions.increase', { params: version, body: { name: '1.2.0' } })
    await expect(again).rejects.toMatchObject({ status: 409, property: 'id' })
    expect(await get(version)).toMatchObject({ mutable: false, increasable: false })
    await call('versions.delete', { params: { ...version, versionId: next.id } })
    expect((await get(version)).increasable).toBe(true)
  })

  it('copy deployments to the next version only when they are set to', async () => {
    const version = await makeVersion(await makeProject(), '1.0.0', 'incremental', false)
    await addImages(version, 'web:1')
    await deploy(version, 0, 'stays')
    const next = await call('versions.increase', { params: version, body: { name: '1.1.0' } })
    expect(await get({ ...version, versionId: next.id })).toMatchObject({ deployments: [], images: [{ name: 'web' }] })
  })

  it('keep the protection of a deployment target at the old version', async () => {
    const version = await makeVersion(await makeProject(), '1.0.0')
    await addImages(version, 'web:1')
    const deploymentId = await deploy(version, 0, 'guarded')
    const params = { ...inTeam(), deploymentId }
    await call('deployments.update', { params, body: { prefix: 'guarded', protected: true } })
    const next = await call('versions.increase', { params: version, body: { name: '1.1.0' } })
    const copied = (await get({ ...version, versionId: next.id })).deployments
    expect(copied).toMatchObject([{ prefix: 'guarded', status: 'preparing', protected: false }])
    expect((await call('deployments.get', { params })).protected).toBe(true)
    const both = call('deployments.update', {
      params: { ...inTeam(), deploymentId: copied[0]?.id ?? '' },
      body: { prefix: 'guarded', protected: true },
    })
    await expect(both).rejects.toMatchObject({ status: 412, property: 'deploymentId', value: deploymentId })
  })

  it('start with the images and deployments of the default version, whatever their type', async () => {
    const project = await makeProject()
    const first = await makeVersion(project, '1.0.0')
    await addImages(first, 'web:1')
    await setStatus(await deploy(first, 0, 'begun'), 'successful')
    const rolling = await get(await makeVersion(project, 'edge', 'rolling', true))
    const copies = [{ prefix: 'begun', status: 'preparing', protected: false }]
    expect(rolling).toMatchObject({
      images: [{ name: 'web', tag: '1' }],
      deployments: copies,
      autoCopyDeployments: false,
    })
    const incremental = await get(await makeVersion(project, '2.0.0'))
    expect(incremental.deployments).toMatchObject(copies)
    const copied = await call('deployments.get', {
      params: { ...inTeam(), deploymentId: incremental.deployments[0]?.id ?? '' },
    })
    expect(copied).toMatchObject({ lastTry: 0, instances: [{ image: { name: 'web' } }] })
    const withoutCopyOnIncrease = await get(await makeVersion(project, '3.0.0', 'incremental', false))
    expect(withoutCopyOnIncrease).toMatchObject({ images: [{ name: 'web' }], deployments: copies })
  })

  it('refuse to increase a rolling version', async () => {
    const version = await makeVersion(await makeProject(), 'edge', 'rolling')
    const refused = call('versions.increase', { params: version, body: { name: '2' } })
    await expect(refused).rejects.toMatchObject({ status: 412, property: 'id' })
  })

  it('get one child when two users increase them at once', async () => {
    const version = await makeVersion(await makeProject(), '1.0.0')
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c'].map((name) => call('versions.increase', { params: version, body: { name } })),
    )
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 409 })
  })
})

describe('images', () => {
  it('are added to every deployment of the version, in the order in which they were added', async () => {
    const version = await makeVersion(await makeProject(), '1.0.0')
    const [first] = await addImages(version, 'group/web')
    const deployment = { ...inTeam(), deploymentId: await deploy(version, 0, 'gets-images') }
    const added = await addImages(version, 'localhost:5000/db:2', 'cache:3.1')
    expect([first, ...added].map((image) => [image?.name, image?.tag, image?.order])).toEqual([
      ['group/web', null, 0],
      ['localhost:5000/db', '2', 1],
      ['cache', '3.1', 2],
    ])
    const { instances } = await call('deployments.get', { params: deployment })
    expect(instances.map((instance) => instance.image.name)).toEqual(['group/web', 'localhost:5000/db', 'cache'])
    await call('images.delete', { params: { ...version, imageId: added[0]?.id ?? '' } })
    const left = await call('deployments.get', { params: deployment })
    expect(left.instances.map((instance) => instance.image.name)).toEqual(['group/web', 'cache'])
  })

  it('change their tag and their order', async () => {
    const version = await makeVersion(await makeProject(), '1.0.0')
    const ids = (await addImages(version, 'a:1', 'b:1', 'c:1')).map((image) => image.id)
    const [a = '', b = '', c = ''] = ids
    await call('images.update', { params: { ...version, imageId: b }, body: { tag: '2' } })
    await call('images.order', { params: version, body: [c, a, b] })
    const listed = await call('images.list', { params: version })
    expect(listed.map((image) => [image.name, image.tag, image.order])).toEqual([
      ['c', '1', 0],
      ['a', '1', 1],
      ['b', '2', 2],
    ])
    const order = (body: string[]) => call('images.order', { params: version, body })
    await expect(order([a, b])).rejects.toMatchObject({ status: 400, property: 'imageIds' })
    await expect(order([a, b, c, c])).rejects.toMatchObject({ status: 409, property: 'body' })
    const other = await makeVersion(await makeProject(), '1.0.0')
    const [foreign] = await addImages(other, 'x:1')
    await expect(order([a, b, foreign?.id ?? ''])).rejects.toMatchObject({ status: 404, property: 'imageId' })
  })

  it.each(['UPPER', '-rm', 'a b', 'a:b:c', '../etc', 'a@sha256:00', ''])(
    'refuse the name %j and add none',
    async (name) => {
      const version = await makeVersion(await makeProject(), '1.0.0')
      await expect(addImages(version, 'good:1', name)).rejects.toMatchObject({ status: 400, error: 'invalidArgument' })
      expect(await call('images.list', { params: version })).toEqual([])
    },
  )

  it("refuse another team's registry", async () => {
    const stranger = crux.signUp()
    const theirs = await crux.createTeam(stranger)
    const [foreign] = await crux.client(stranger).call('registries.list', { params: { teamSlug: theirs.slug } })
    const version = await makeVersion(await makeProject(), '1.0.0')
    const refused = call('images.create', { params: version, body: [{ registryId: foreign?.id ?? '', images: ['a'] }] })
    await expect(refused).rejects.toMatchObject({ status: 404, property: 'registryId' })
  })

  it('return their address in the response', async () => {
    const project = await makeProject()
    const { headers } = await crux
      .client(ada)
      .request('versions.create', { params: project, body: { name: '1', type: 'incremental' } })
    const [version] = await call('versions.list', { params: project })
    const base = `/${team.slug}/projects/${project.projectId}/versions`
    expect(headers.get('location')).toBe(`${base}/${version?.id}`)
    const increased = await crux
      .client(ada)
      .request('versions.increase', { params: { ...project, versionId: version?.id ?? '' }, body: { name: '2' } })
    expect(increased.headers.get('location')).toBe(`${base}/${increased.data.id}`)
  })
})

it('the dashboard counts the resources of a team, and shows the progress of its first steps', async () => {
  const someone = crux.signUp()
  const fresh = await crux.createTeam(someone)
  const { call } = crux.client(someone)
  const params = { teamSlug: fresh.slug }
  const empty = await call('dashboard.get', { params })
  expect(empty).toMatchObject({ users: 1, projects: 0, more: { registries: 1, nodes: 0, inProgressDeployments: 0 } })
  expect(empty.onboarding).toMatchObject({
    signUp: { done: true },
    createProject: { done: false },
    deploy: { done: false },
  })
  const project = await call('projects.create', { params, body: { name: 'First', type: 'versioned' } })
  const begun = await call('dashboard.get', { params })
  expect(begun).toMatchObject({
    projects: 1,
    onboarding: { createProject: { done: true, resourceId: project.id }, createVersion: { done: false } },
  })
})
