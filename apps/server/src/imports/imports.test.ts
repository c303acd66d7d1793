import type { ContainerConfigFields, ImportedImage } from '@crux/contract'
import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'

let crux: TestServer
let registry: Registry
let ada: Someone
let team: TestTeam
let call: ReturnType<TestServer['client']>['call']
/** An unchecked registry, and one with real images. */
let anywhere: string
let local: string
let count = 0

beforeAll(async () => {
  registry = await startRegistry()
  crux = await startTestServer()
  ada = crux.signUp('Ada Byron')
  call = crux.client(ada).call
  team = await crux.createTeam(ada)
  anywhere = await createRegistry(ada, team)
  const body = { name: 'Local', type: 'v2', details: { url: `http://${registry.host}`, public: true } } as const
  local = (await call('registries.create', { params: { teamSlug: team.slug }, body })).id
})
afterAll(async () => {
  await crux.stop()
  await registry.remove()
})

const createRegistry = async (owner: Someone, { slug }: TestTeam) =>
  (
    await crux.client(owner).call('registries.create', {
      params: { teamSlug: slug },
      body: { name: 'Anywhere', type: 'unchecked', details: { local: true } },
    })
  ).id
const params = () => ({ teamSlug: team.slug })
const image = (name: string, config: ContainerConfigFields = {}, more: Partial<ImportedImage> = {}): ImportedImage => ({
  registryId: anywhere,
  name,
  tag: '1',
  config,
  ...more,
})
const freshName = () => `Project ${++count}`

const importVersioned = (images: ImportedImage[], name = freshName()) =>
  call('projects.import', {
    params: params(),
    body: { project: { name, type: 'versioned' }, version: { name: '1.0.0', type: 'incremental' }, images },
  })
async function importInto(images: ImportedImage[]) {
  const { id: projectId } = await call('projects.create', {
    params: params(),
    body: { name: freshName(), type: 'versioned' },
  })
  const imported = call('versions.import', {
    params: { ...params(), projectId },
    body: { name: '1.0.0', type: 'rolling', images },
  })
  return { projectId, imported }
}
const countRows = async () => {
  const tables = ['project', 'version', 'image', 'container_config', 'deployment', 'instance']
  const { rows } = await crux.app.database.pool.query(
    `select ${tables.map((table) => `(select count(*)::int from crux.${table}) as ${table}`).join(', ')}`,
  )
  return rows[0]
}

describe('an import', () => {
  it('creates a versioned project whose first version is its default and holds the images in their order', async () => {
    const created = await importVersioned([
      image('db', { environment: [{ key: 'A', value: '1' }], secrets: [{ key: 'PASSWORD', required: true }] }),
      image('web', { name: 'front', ports: [{ internal: 80, external: 8080 }] }, { tag: null }),
    ])
    expect(created).toMatchObject({ type: 'versioned', versionCount: 1, versionId: expect.any(String) })
    const version = await call('versions.get', {
      params: { ...params(), projectId: created.id, versionId: created.versionId },
    })
    expect(version).toMatchObject({ name: '1.0.0', type: 'incremental', default: true, autoCopyDeployments: true })
    expect(version.images).toMatchObject([
      {
        name: 'db',
        tag: '1',
        order: 0,
        config: {
          environment: [{ id: expect.any(String), key: 'A', value: '1' }],
          secrets: [{ key: 'PASSWORD', required: true }],
        },
      },
      { name: 'web', tag: null, order: 1, config: { name: 'front', ports: [{ internal: 80, external: 8080 }] } },
    ])
  })

  it('puts the images of a versionless project into its rolling version', async () => {
    const created = await call('projects.import', {
      params: params(),
      body: { project: { name: freshName(), type: 'versionless', changelog: 'first' }, images: [image('web')] },
    })
    const { versions } = await call('projects.get', { params: { ...params(), projectId: created.id } })
    expect(versions).toMatchObject([
      { id: created.versionId, name: 'rolling', type: 'rolling', default: true, changelog: 'first', imageCount: 1 },
    ])
  })

  it('requires a version for a versioned project, and refuses one for a versionless project', async () => {
    const send = (type: 'versioned' | 'versionless', version?: { name: string; type: 'rolling' }) =>
      call('projects.import', {
        params: params(),
        body: { project: { name: freshName(), type }, version, images: [image('web')] },
      })
    for (const sent of [send('versioned'), send('versionless', { name: '1', type: 'rolling' })])
      await expect(sent).rejects.toMatchObject({ status: 400, property: 'version' })
  })

  it('answers 201 with the address of what it created', async () => {
    const send = async (path: string, body: object) => {
      const answer = await crux.request(`/api/${team.slug}/${path}`, {
        method: 'POST',
        as: ada,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, images: [image('web')] }),
      })
      const { id } = (await answer.json()) as { id: string }
      return { id, status: answer.status, location: answer.headers.get('location') }
    }
    const project = await send('projects/import', {
      project: { name: freshName(), type: 'versioned' },
      version: { name: '1', type: 'rolling' },
    })
    expect(project).toMatchObject({ status: 201, location: `/${team.slug}/projects/${project.id}` })
    const versions = `projects/${project.id}/versions`
    const version = await send(`${versions}/import`, { name: '2', type: 'rolling' })
    expect(version).toMatchObject({ status: 201, location: `/${team.slug}/${versions}/${version.id}` })
  })

  it('adds a version with its own images, copies of the deployments of the default version, and empty instances', async () => {
    const { id: projectId, versionId } = await importVersioned([image('old')])
    const node = await call('nodes.create', { params: params(), body: { name: `Node ${++count}` } })
    const first = await call('deployments.create', {
      params: params(),
      body: { versionId, nodeId: node.id, prefix: 'shop' },
    })
    await call('container-configurations.update', {
      params: {
        ...params(),
        configId: (await call('deployments.get', { params: { ...params(), deploymentId: first.id } })).config.id,
      },
      body: { config: { environment: [{ key: 'OF', value: 'deployment' }] } },
    })
    const imported = await call('versions.import', {
      params: { ...params(), projectId },
      body: { name: '2.0.0', type: 'incremental', images: [image('new', { name: 'new' }), image('newer')] },
    })
    expect(imported).toMatchObject({ default: false, imageCount: 2, deploymentCount: 1, increasable: true })
    const version = await call('versions.get', { params: { ...params(), projectId, versionId: imported.id } })
    expect(version.images.map(({ name }) => name)).toEqual(['new', 'newer'])
    const deploymentId = version.deployments[0]?.id ?? ''
    const copied = await call('deployments.get', { params: { ...params(), deploymentId } })
    expect(copied).toMatchObject({
      status: 'preparing',
      prefix: 'shop',
      config: { environment: [{ key: 'OF', value: 'deployment' }] },
    })
    expect(copied.instances.map((one) => one.image.name)).toEqual(['new', 'newer'])
  })

  it('merges settings that the labels of the images require, and continues without an unreachable registry', async () => {
    await registry.push('labelled', '1', { labels: { 'dev.crux.env.LOG_LEVEL': 'string,default:info' } })
    const { projectId, imported } = await importInto([
      image('labelled', { environment: [{ key: 'A', value: '1' }] }, { registryId: local }),
      image('absent', {}, { registryId: local }),
    ])
    const { id: versionId } = await imported
    const images = await call('images.list', { params: { ...params(), projectId, versionId } })
    expect(images.map(({ config }) => config.environment?.map(({ key, value }) => `${key}=${value}`))).toEqual([
      ['A=1', 'LOG_LEVEL=info'],
      undefined,
    ])
    expect(images[0]?.labels).toEqual({ 'dev.crux.env.LOG_LEVEL': 'string,default:info' })
  })

  it('accepts short rows, and refuses unknown settings and unfinished rows', async () => {
    const send = (config: object) =>
      crux.request(`/api/${team.slug}/projects/import`, {
        method: 'POST',
        as: ada,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          project: { name: freshName(), type: 'versionless' },
          images: [image('db'), { ...image('web'), config }],
        }),
      })
    expect((await send({ ports: ['8080:80'], volumes: ['data:/data'] })).status).toBe(201)
    for (const [config, property] of [
      [{ healthcheck: {} }, 'images[1].config.healthcheck'],
      [{ ports: [{ internal: 0 }] }, 'images[1].config.ports[0].internal'],
    ] as const)
      expect(await (await send(config)).json()).toMatchObject({ error: 'invalidArgument', property })
  })

  it('creates one project when it is sent twice at once', async () => {
    const name = freshName()
    const results = await Promise.allSettled([1, 2, 3].map(() => importVersioned([image('web')], name)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 409, property: 'name' })
  })
})

describe('an import that is refused leaves nothing', () => {
  async function expectRefused(images: ImportedImage[], expected: object, as = ada) {
    const before = await countRows()
    const sent = crux.client(as).call('projects.import', {
      params: params(),
      body: { project: { name: freshName(), type: 'versioned' }, version: { name: '1', type: 'rolling' }, images },
    })
    await expect(sent).rejects.toMatchObject(expected)
    expect(await countRows()).toEqual(before)
  }

  it('if a registry belongs to another team', async () => {
    const grace = crux.signUp('Grace Hopper')
    const foreign = await createRegistry(grace, await crux.createTeam(grace))
    await expectRefused([image('db'), image('web', {}, { registryId: foreign })], {
      status: 404,
      property: 'images[1].registryId',
    })
  })

  it('if a name is not the name of an image, or contains a tag', async () => {
    const details = [{ property: 'images[0].name' }, { property: 'images[1].name' }]
    await expectRefused([image('Not A Name'), image('web:1'), image('web')], { status: 400, details })
  })

  it('if settings are invalid, and lists all problems of all images', async () => {
    await expectRefused(
      [
        image('db', { volumes: [{ name: 'a/b', path: '/data' }] }),
        image('web', { secrets: [{ key: 'TOKEN', required: true, value: 'plain' }], routing: { port: 81 } }),
      ],
      {
        status: 400,
        details: expect.arrayContaining([
          expect.objectContaining({ property: 'images[0].config.volumes[0].name' }),
          expect.objectContaining({ property: 'images[1].config.secrets[0].value' }),
        ]),
      },
    )
  })

  it('if two images would have a container of the same name', async () => {
    const expected = { status: 400, error: 'containerNameAreUnique', property: 'images[1].config.name' }
    await expectRefused([image('group/web'), image('other/web')], expected)
    await expectRefused([image('db', { name: 'web' }), image('web')], expected)
    await expectRefused(
      [
        image('db', { name: 'web-init' }),
        image('web', { initContainers: [{ name: 'init', image: 'a', useParentConfig: false }] }),
      ],
      { error: 'containerNameAreUnique', property: 'images[1].config.initContainers[0].name' },
    )
  })

  it('if a user imports a value that reaches the host, which an admin may import', async () => {
    const user = await crux.addMember(team, 'user')
    const images = [image('db'), image('web', { volumes: [{ name: '/etc', path: '/etc' }], networkMode: 'host' })]
    await expectRefused(
      images,
      {
        status: 403,
        property: 'images[1].config.networkMode',
        details: [
          { property: 'images[1].config.networkMode', error: 'hostDangerous' },
          { property: 'images[1].config.volumes[0].name', error: 'hostDangerous' },
        ],
      },
      user,
    )
    expect(await importVersioned(images)).toMatchObject({ versionCount: 1 })
  })

  it('if a storage belongs to another team', async () => {
    const grace = crux.signUp('Grace Hopper')
    const storage = await crux.client(grace).call('storages.create', {
      params: { teamSlug: (await crux.createTeam(grace)).slug },
      body: { name: 'Files', url: 'https://s3.example.com', public: true },
    })
    const stored = {
      storage: { storageId: storage.id, bucket: 'b', path: 'files' },
      volumes: [{ name: 'files', path: '/files' }],
    }
    await expectRefused([image('db'), image('web', stored)], {
      status: 400,
      property: 'images[1].config.storage.storageId',
    })
  })

  it('if the project is versionless, of another team, or has a version of that name', async () => {
    const versionless = await call('projects.create', {
      params: params(),
      body: { name: freshName(), type: 'versionless' },
    })
    const grace = crux.signUp('Grace Hopper')
    const theirs = await crux.createTeam(grace)
    const foreign = await crux.client(grace).call('projects.create', {
      params: { teamSlug: theirs.slug },
      body: { name: 'Theirs', type: 'versioned' },
    })
    const own = await importVersioned([image('web')])
    const before = await countRows()
    for (const [projectId, expected] of [
      [versionless.id, { status: 412, property: 'projectId' }],
      [foreign.id, { status: 404, property: 'projectId' }],
      [own.id, { status: 409, property: 'name' }],
    ] as const)
      await expect(
        call('versions.import', {
          params: { ...params(), projectId },
          body: { name: '1.0.0', type: 'rolling', images: [image('web')] },
        }),
      ).rejects.toMatchObject(expected)
    expect(await countRows()).toEqual(before)
  })

  it('if it has more than 500 images or 4 MiB, with a bounded list of problems', async () => {
    const many = Array.from({ length: 501 }, (_, index) => image(`web-${index}`))
    await expectRefused(many, { status: 400, property: 'images' })
    const send = (body: string) =>
      crux.request(`/api/${team.slug}/projects/import`, {
        method: 'POST',
        as: ada,
        headers: { 'content-type': 'application/json' },
        body,
      })
    const before = await countRows()
    expect((await send(`"${'x'.repeat(4 * 1_048_576)}"`)).status).toBe(413)
    const rows = Array.from({ length: 2_000 }, () => ({ key: '' }))
    const invalid = await send(
      JSON.stringify({
        project: { name: freshName(), type: 'versionless' },
        images: Array.from({ length: 100 }, () => image('web', { networks: rows })),
      }),
    )
    const { details } = (await invalid.json()) as { details: unknown[] }
    expect([invalid.status, details.length]).toEqual([400, 1_000])
    expect(await countRows()).toEqual(before)
  })
})

it('the audit log contains the number of imported images, and no configuration', async () => {
  await importVersioned([image('web', { environment: [{ key: 'TOKEN', value: 'hush-hush' }] })])
  const { rows } = await crux.app.database.pool.query(
    `select data from crux.audit_log where event = 'project projects.import' order by id desc limit 1`,
  )
  expect(rows[0].data).toMatchObject({ project: { type: 'versioned' }, version: '1.0.0', images: 1 })
  expect(JSON.stringify(rows)).not.toContain('hush-hush')
})
