import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProjectType } from '@crux/contract'
import { finalConfig, validateConfig } from '@crux/rules'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { templatesDirectory } from '../places.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam
let call: ReturnType<TestServer['client']>['call']

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp('Ada Byron')
  call = crux.client(ada).call
  team = await crux.createTeam(ada)
})
afterAll(() => crux.stop())

const ids = readdirSync(templatesDirectory).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []))
const types: ProjectType[] = ['versionless', 'versioned']
let count = 0
const freshName = () => `Project ${++count}`
const apply = (id: string, more: { name?: string; type?: ProjectType; teamSlug?: string } = {}, as = ada) =>
  crux.client(as).call('templates.create', {
    body: { id, teamSlug: team.slug, name: freshName(), type: 'versionless', ...more },
  })
const listRegistries = ({ slug }: TestTeam, as = ada) =>
  crux.client(as).call('registries.list', { params: { teamSlug: slug } })
const countRows = async () => {
  const tables = ['project', 'version', 'image', 'container_config', 'registry']
  const { rows } = await crux.app.database.pool.query(
    `select ${tables.map((table) => `(select count(*)::int from crux.${table}) as ${table}`).join(', ')}`,
  )
  return rows[0]
}
/** A team without the registry that every new team has. */
async function createBareTeam(): Promise<TestTeam> {
  const bare = await crux.createTeam(ada)
  await crux.app.database.pool.query('delete from crux.registry where team_id = $1', [bare.id])
  return bare
}
const createHub = (slug: string, name: string, imageNamePrefix = 'library') =>
  crux.app.database.pool.query(
    `insert into crux.registry (id, team_id, name, type, url, image_name_prefix, created_by, updated_by)
     select uuidv7(), id, $2, 'hub', 'hub.docker.com', $3, 'test', 'test' from crux.team where slug = $1`,
    [slug, name, imageNamePrefix],
  )
const lastAudit = async () => {
  const { rows } = await crux.app.database.pool.query(
    `select event, accepted, data from crux.audit_log where team_id = $1 order by created_at desc, id desc limit 1`,
    [team.id],
  )
  return rows[0]
}

describe('the templates of Crux', () => {
  it('are the ten of the list, each with everything of its file, and in the order of their ids', async () => {
    const list = await call('templates.list', {})
    expect(list.map(({ id }) => id)).toEqual([
      'cal-com',
      'gitea',
      'google-microservices',
      'linkace',
      'minecraft',
      'mlflow',
      'self-hosted-gitlab',
      'strapi',
      'vaultwarden',
      'wordpress',
    ])
    expect(ids.toSorted()).toEqual(list.map(({ id }) => id))
    for (const { id, name, technologies, images } of list) {
      const file = JSON.parse(readFileSync(join(templatesDirectory, `${id}.json`), 'utf8'))
      expect({ name, technologies }).toEqual({ name: file.name, technologies: file.technologies })
      expect(images).toHaveLength(file.images.length)
      expect(images.map(({ tag }) => tag)).not.toContain('latest')
      // A restart policy that is written with a dash is the policy that it says.
      expect(images.map(({ config }) => config.restartPolicy)).toEqual(images.map(() => 'unlessStopped'))
    }
  })

  it.each(ids.flatMap((id) => types.map((type) => [id, type] as const)))(
    '%s is applied as a %s project whose final configurations have no problems',
    async (id, type) => {
      const template = (await call('templates.list', {})).find((one) => one.id === id)
      const project = await apply(id, { type })
      expect(project).toMatchObject({ type, versionCount: 1 })
      const at = { teamSlug: team.slug, projectId: project.id }
      const { versions } = await call('projects.get', { params: at })
      expect(versions).toMatchObject([
        type === 'versioned'
          ? { name: '1.0.0', type: 'incremental', default: true }
          : { name: 'rolling', type: 'rolling', default: true },
      ])
      const images = await call('images.list', { params: { ...at, versionId: versions[0]?.id ?? '' } })
      expect(images.map(({ config, tag, order }) => [config.name, tag, order])).toEqual(
        template?.images.map(({ config, tag }, index) => [config.name, tag, index]),
      )
      for (const { config, name } of images) {
        const { id: _, type: __, updatedAt: ___, updatedBy: ____, revision: _____, ...fields } = config
        const { config: final } = finalConfig({ image: fields, layers: [], imageName: name, versionName: '1.0.0' })
        expect(validateConfig(final, { whole: true, nodeType: 'docker', prefix: 'a-prefix-of-twenty-2' })).toEqual([])
        expect(config.secrets?.filter(({ required, generate }) => !required || !generate) ?? []).toEqual([])
      }
    },
  )

  it.each([
    ['gitea', 'MYSQL_PASSWORD', 'GITEA__database__PASSWD'],
    ['wordpress', 'MYSQL_PASSWORD', 'WORDPRESS_DB_PASSWORD'],
    ['linkace', 'MARIADB_PASSWORD', 'DB_PASSWORD'],
    ['strapi', 'POSTGRES_PASSWORD', 'DATABASE_PASSWORD'],
    ['cal-com', 'POSTGRES_PASSWORD', 'POSTGRES_PASSWORD'],
  ])('%s gives its database and its client one password', async (id, ...keys) => {
    const { images } = (await call('templates.list', {})).find((one) => one.id === id) ?? {}
    const groups = images?.map(({ config }, index) => config.secrets?.find(({ key }) => key === keys[index])?.generate)
    expect(groups).toEqual(['database', 'database'])
  })

  it.each(ids)('%s has a picture that a browser shows as an image and never runs', async (id) => {
    const { pictureHash } = (await call('templates.list', {})).find((one) => one.id === id) ?? {}
    const answer = await crux.request(`/api/templates/${id}/image?v=${pictureHash}`, { as: ada })
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'image/svg+xml',
      'private, max-age=31536000, immutable',
    ])
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'")
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    const text = await answer.text()
    expect(text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 96 96"/)
    expect(text).not.toMatch(/<script|<foreignObject|href|on\w+=|<style|<image/i)
    const other = await crux.request(`/api/templates/${id}/image`, { as: ada })
    expect(other.headers.get('cache-control')).toBe('no-cache')
  })
})

describe('applying a template', () => {
  it('finds registries by their addresses whatever their names are, and creates only what is missing', async () => {
    const other = await createBareTeam()
    await createHub(other.slug, 'Mirror of officials')
    // Another address under the name that the template uses.
    await createHub(other.slug, 'Docker Hub Gitea', 'somewhere-else')
    const project = await apply('gitea', { teamSlug: other.slug })
    expect((await listRegistries(other)).map(({ name, imageUrlPrefix }) => [name, imageUrlPrefix])).toEqual([
      ['Docker Hub Gitea', 'hub.docker.com/somewhere-else'],
      ['Docker Hub Gitea 2', 'hub.docker.com/gitea'],
      ['Mirror of officials', 'hub.docker.com/library'],
    ])
    const at = { teamSlug: other.slug, projectId: project.id }
    const { versions } = await call('projects.get', { params: at })
    const images = await call('images.list', { params: { ...at, versionId: versions[0]?.id ?? '' } })
    expect(images.map(({ name, registry }) => `${registry.name}: ${name}`)).toEqual([
      'Mirror of officials: mysql',
      'Docker Hub Gitea 2: gitea',
    ])
    await apply('gitea', { teamSlug: other.slug })
    expect(await listRegistries(other)).toHaveLength(3)
  })

  it('names an image relative to the registry that is found for it', async () => {
    const other = await createBareTeam()
    await call('registries.create', {
      params: { teamSlug: other.slug },
      body: { name: 'All of Docker', type: 'unchecked', details: { url: 'docker.io' } },
    })
    const project = await apply('wordpress', { teamSlug: other.slug })
    const at = { teamSlug: other.slug, projectId: project.id }
    const { versions } = await call('projects.get', { params: at })
    const images = await call('images.list', { params: { ...at, versionId: versions[0]?.id ?? '' } })
    expect(images.map(({ name }) => name)).toEqual(['library/mysql', 'library/wordpress'])
    expect(await listRegistries(other)).toHaveLength(1)
  })

  it('lets a user apply a template only where an admin has created its registries, and says which are missing', async () => {
    const other = await createBareTeam()
    const user = await crux.addMember(other, 'user')
    const before = await countRows()
    await expect(apply('gitea', { teamSlug: other.slug }, user)).rejects.toMatchObject({
      status: 403,
      property: 'registries',
      value: ['Docker Hub Library', 'Docker Hub Gitea'],
      description: expect.stringContaining(
        'to create: a Docker Hub registry for library; a Docker Hub registry for gitea.',
      ),
    })
    expect(await countRows()).toEqual(before)
    await apply('gitea', { teamSlug: other.slug })
    expect(await apply('gitea', { teamSlug: other.slug }, user)).toMatchObject({ type: 'versionless' })
  })

  it('refuses teams of which the caller is no member like teams that do not exist', async () => {
    const stranger = crux.signUp('Stranger')
    const refusals = await Promise.all(
      [team.slug, 'no-such-team'].map((teamSlug) =>
        apply('wordpress', { teamSlug }, stranger).catch(({ status, property, description }) => ({
          status,
          property,
          description,
        })),
      ),
    )
    expect(refusals[0]).toMatchObject({ status: 403, property: 'teamSlug' })
    expect(refusals[0]).toEqual(refusals[1])
  })

  it('requires the second factor that the team requires', async () => {
    const other = await createBareTeam()
    await crux.app.database.pool.query('update crux.team set second_factor_required = true where id = $1', [other.id])
    await expect(apply('wordpress', { teamSlug: other.slug })).rejects.toMatchObject({
      status: 403,
      property: 'secondFactor',
    })
  })

  it('answers one of two equal requests with 409, and leaves nothing of it', async () => {
    const other = await createBareTeam()
    const before = await countRows()
    const both = await Promise.allSettled([1, 2].map(() => apply('linkace', { teamSlug: other.slug, name: 'Links' })))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { status: 409, property: 'name' },
    })
    expect(await countRows()).toEqual({
      ...before,
      project: before.project + 1,
      version: before.version + 1,
      image: before.image + 2,
      containerConfig: before.containerConfig + 2,
      registry: before.registry + 2,
    })
  })

  it('creates a registry once when different templates need it at the same time', async () => {
    const other = await createBareTeam()
    await Promise.all(['gitea', 'linkace', 'wordpress', 'strapi'].map((id) => apply(id, { teamSlug: other.slug })))
    const prefixes = (await listRegistries(other)).map(({ imageUrlPrefix }) => imageUrlPrefix)
    expect(prefixes.toSorted()).toEqual([
      'hub.docker.com/gitea',
      'hub.docker.com/library',
      'hub.docker.com/linkace',
      'hub.docker.com/vshadbolt',
    ])
  })

  it('creates no registry when the name of the project is taken', async () => {
    const other = await createBareTeam()
    await call('projects.create', { params: { teamSlug: other.slug }, body: { name: 'Taken', type: 'versioned' } })
    const before = await countRows()
    await expect(apply('mlflow', { teamSlug: other.slug, name: 'Taken' })).rejects.toMatchObject({
      status: 409,
      property: 'name',
    })
    expect(await countRows()).toEqual(before)
  })

  it('is recorded in the audit log of its team, also when it is refused', async () => {
    const project = await apply('vaultwarden', { name: 'Passwords' })
    expect(await lastAudit()).toMatchObject({
      event: 'project templates.create',
      accepted: true,
      data: { body: { id: 'vaultwarden', name: 'Passwords' }, projectId: project.id },
    })
    await expect(apply('vaultwarden', { name: 'Passwords' })).rejects.toMatchObject({ status: 409 })
    expect(await lastAudit()).toMatchObject({
      event: 'project templates.create',
      accepted: false,
      data: { refused: { error: 'alreadyExists', property: 'name' } },
    })
  })

  it('answers 201 with the address of the project', async () => {
    const answer = await crux.request('/api/templates', {
      method: 'POST',
      as: ada,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'minecraft', teamSlug: team.slug, name: freshName(), type: 'versioned' }),
    })
    const { id } = (await answer.json()) as { id: string }
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `/${team.slug}/projects/${id}`])
  })

  it.each(['../../package', '..%2F..%2Fpackage', 'wordpress.json', 'no-such-template', 'con', '__proto__'])(
    'finds no template and no picture under the id %s',
    async (id) => {
      await expect(apply(id)).rejects.toMatchObject({
        status: expect.toSatisfy((status) => [400, 404].includes(status)),
      })
      const answer = await crux.request(`/api/templates/${encodeURIComponent(id)}/image`, { as: ada })
      expect([400, 404]).toContain(answer.status)
    },
  )
})
