import { convertCompose, readCompose } from '@crux/compose'
import type { ContainerConfigFields, ImportedImage } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam
/** Registries that are never queried: one of the engine itself, and one of a host. */
let registries: { local: string; host: string }
let count = 0

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
  const create = async (name: string, details: { local: boolean; url?: string }) =>
    (
      await crux.client(ada).call('registries.create', {
        params: { teamSlug: team.slug },
        body: { name, type: 'unchecked', details },
      })
    ).id
  registries = {
    local: await create('Local', { local: true }),
    host: await create('Host', { local: false, url: 'registry.example.com:5000' }),
  }
})
afterAll(() => crux.stop())

const image = (name: string): ImportedImage => ({ registryId: registries.local, name, tag: '1', config: {} })
const importProject = (images: ImportedImage[], name = `Project ${++count}`) =>
  crux.client(ada).call('projects.import', {
    params: { teamSlug: team.slug },
    body: { project: { name, type: 'versioned' }, version: { name: '1.0.0', type: 'incremental' }, images },
  })

describe('a version as a compose file', () => {
  const download = (path: { projectId: string; versionId: string }, as = ada) =>
    crux.request(`/api/${team.slug}/projects/${path.projectId}/versions/${path.versionId}/compose`, { as })

  it('names images by their registries, and imports to the same configuration', async () => {
    const config: ContainerConfigFields = {
      name: 'front',
      environment: [{ key: 'PRICE', value: '$5' }],
      ports: [{ internal: 80, external: 8080 }],
      metrics: { enabled: true, port: 80 },
      secrets: [{ key: 'PASSWORD', required: true }],
    }
    const digest = `sha256:${'0a'.repeat(32)}`
    const { id: projectId, versionId } = await importProject(
      [
        { registryId: registries.host, name: 'group/web', tag: `1.2@${digest}`, config },
        { ...image('db'), config: { name: 'db' } },
      ],
      'Größe "quoted" shop',
    )
    const answer = await download({ projectId, versionId })
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-disposition')]).toEqual([
      200,
      'text/yaml; charset=utf-8',
      `attachment; filename="Gr_e_quoted_shop-1.0.0.yaml"`,
    ])
    const text = await answer.text()
    const { document, problems } = readCompose({ files: [{ name: 'compose.yaml', text }], envFiles: [] })
    expect(problems).toEqual([])
    const { images } = convertCompose(document ?? expect.fail('the file cannot be read'))
    expect(images.map(({ name, tag }) => [name, tag])).toEqual([
      [`registry.example.com:5000/group/web`, `1.2@${digest}`],
      ['docker.io/library/db', '1'],
    ])
    expect(images[0]?.config).toMatchObject(config)
  })

  it('contains no values of secrets, which only deployments have', async () => {
    const { id: projectId, versionId } = await importProject([image('web')])
    await crux.app.database.pool.query(
      `update crux.container_config set fields = fields || $2 where image_id in (select id from crux.image where version_id = $1)`,
      [versionId, JSON.stringify({ secrets: [{ key: 'TOKEN', required: true, value: 'hush-hush' }] })],
    )
    const text = await (await download({ projectId, versionId })).text()
    expect(text).toContain('TOKEN')
    expect(text).not.toContain('hush-hush')
  })

  it('is not there for other teams, and not below another project', async () => {
    const { versionId } = await importProject([image('web')])
    const other = await importProject([image('web')])
    expect((await download({ projectId: other.id, versionId })).status).toBe(404)
    const grace = crux.signUp('Grace Hopper')
    expect((await download({ projectId: other.id, versionId: other.versionId }, grace)).status).toBe(403)
  })
})
