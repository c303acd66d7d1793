import type { ResponseOf } from '@crux/contract'
import { removeContainers, unique, waitFor } from '@crux/test-kit'
import pg from 'pg'
import { deploySuccessfully, inspectPrefix, readEnvironment } from '../kit/deployed-containers.ts'
import { generateSecrets } from '../kit/generate-secrets.ts'
import { moveHostPorts } from '../kit/host-ports.ts'
import { toAnswer } from '../kit/service.ts'
import { createStubImage } from '../kit/stub-image.ts'
import { expect, type TestSystem, test } from '../kit/test-system.ts'

// The registries of the templates cannot be reached from here, so each image is replaced by one of the local registry that has the programs which its
// configuration runs. All else is deployed as the template says: every template can be tested this way, so none is left out.

type Image = ResponseOf<'images.list'>[number]

/** Programs that commands of a template start. They start the service only with what the template gives to the real ones. */
const commands = {
  '/bin/npx': '#!/bin/sh\n[ "$1 $2 $3" = "prisma migrate deploy" ]\n',
  '/calcom/scripts/start.sh':
    '#!/bin/sh\n[ "$DATABASE_URL" = "postgresql://calcom:$POSTGRES_PASSWORD@database:5432/calcom" ] && exec /bin/serve\n',
  '/bin/mlflow': '#!/bin/sh\n[ "$1 $2 $3 $4 $5" = "server --host 0.0.0.0 --port 5000" ] && exec /bin/serve\n',
  '/bin/python': '#!/bin/sh\nexec wget -q -O /dev/null http://127.0.0.1:5000/health\n',
  '/www/health': 'ready',
}

function toStub({ name, config: { ports, healthCheckConfig } }: Image) {
  const probe = healthCheckConfig?.startupProbe
  return createStubImage(name, {
    ports: (ports ?? []).map(({ internal }) => internal),
    files: { ...commands, ...(probe && { [`/www${probe}`]: 'ready' }) },
  })
}

/** Gives an image the registry and the name of its stub, which no request could do, and free ports on the loopback addresses. */
async function replaceImage(
  { testEnvironment, registry }: TestSystem,
  database: pg.Pool,
  image: Image,
  params: { teamSlug: string; projectId: string; versionId: string },
): Promise<number[]> {
  const name = `templates/${image.name}`
  await registry.push(name, image.tag ?? 'latest', toStub(image))
  const replace = 'update crux.image set registry_id = $1, name = $2 where id = $3'
  await database.query(replace, [testEnvironment.registryId, name, image.id])
  const { ports = [] } = await moveHostPorts({ ports: image.config.ports ?? [] })
  if (!ports?.length) return []
  const bound = ports.map((port) => ({ ...port, bindAddress: '127.0.0.1' }))
  await testEnvironment.user.client.call('images.update', {
    params: { ...params, imageId: image.id },
    body: { config: { ports: bound } },
  })
  return bound.flatMap(({ external }) => external ?? [])
}

async function deployTemplate(testSystem: TestSystem, database: pg.Pool, id: string, prefix: string) {
  const { teamSlug, nodeId, user } = testSystem.testEnvironment
  const { call } = user.client
  const body = { id, teamSlug, name: unique(`${id} `), type: 'versionless' as const }
  const project = await call('templates.create', { body })
  const inProject = { teamSlug, projectId: project.id }
  const versionId = (await call('versions.list', { params: inProject, query: {} }))[0]?.id ?? ''
  const params = { ...inProject, versionId }
  const images = await call('images.list', { params })
  const ports = await Promise.all(images.map((image) => replaceImage(testSystem, database, image, params)))
  const deployment = await call('deployments.create', { params: { teamSlug }, body: { versionId, nodeId, prefix } })
  const groups = await generateSecrets(testSystem.testEnvironment, deployment.id)
  await deploySuccessfully(testSystem.testEnvironment, deployment.id)
  return { images, ports: ports.flat(), groups }
}

test('every built-in template starts in its order, healthy, and with one generated value for each group of secrets', async ({
  testSystem,
}) => {
  test.setTimeout(180_000)
  const templates = await testSystem.testEnvironment.user.client.call('templates.list', {})
  expect(templates).toHaveLength(10)
  const prefixes = new Map(templates.map(({ id }, index) => [id, unique(`t${index}`)]))
  const database = new pg.Pool({ connectionString: testSystem.system.databaseUrl, max: 4 })
  const results = await Promise.allSettled(
    [...prefixes].map(async ([id, prefix]) => {
      const { images, ports, groups } = await deployTemplate(testSystem, database, id, prefix)
      await checkContainers(prefix, images, groups)
      for (const port of ports) await waitFor(`port ${port} answers`, async () => (await toAnswer(port)) === 'answered')
      return id
    }),
  )
  await database.end()
  for (const prefix of prefixes.values()) await removeContainers(`dev.crux.prefix=${prefix}`)
  expect(results).toEqual(templates.map(({ id }) => ({ status: 'fulfilled', value: id })))
})

async function checkContainers(
  prefix: string,
  images: readonly Image[],
  groups: Awaited<ReturnType<typeof generateSecrets>>,
) {
  const containers = await inspectPrefix(prefix)
  expect([...containers.keys()].sort()).toEqual(images.map(({ config }) => `${prefix}-${config.name}`).sort())
  const getStart = ({ config }: Image) => Date.parse(containers.get(`${prefix}-${config.name}`)?.State.StartedAt ?? '')
  for (const [index, image] of images.entries())
    if (image.config.healthCheckConfig || image.config.expectedState)
      for (const later of images.slice(index + 1)) expect(getStart(later)).toBeGreaterThan(getStart(image))
  for (const { name, tag, config } of images) {
    const container = containers.get(`${prefix}-${config.name}`)
    expect(container?.State.Status, name).toBe('running')
    expect(container?.Config.Image).toContain(`/templates/${name}:${tag}`)
    if (config.healthCheckConfig?.command) expect(container?.State.Health?.Status, name).toBe('healthy')
    for (const { key, value } of config.environment ?? [])
      expect(container && readEnvironment(container)[key]).toBe(value)
    expect(container?.Mounts.map(({ Destination }) => Destination).sort()).toEqual(
      (config.volumes ?? []).map(({ path }) => path).sort(),
    )
  }
  const generated = images.flatMap(({ config }) => config.secrets ?? []).flatMap(({ generate }) => generate ?? [])
  expect([...groups.keys()].sort()).toEqual([...new Set(generated)].sort())
  for (const { members, value } of groups.values())
    for (const { container: name, key } of members) {
      const container = containers.get(`${prefix}-${name}`)
      expect(container && readEnvironment(container)[key], `${name} ${key}`).toBe(value)
    }
  expect(new Set([...groups.values()].map(({ value }) => value)).size).toBe(groups.size)
}
