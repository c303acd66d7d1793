import type { ConvertResult } from '@crux/compose'
import { importCorpusCase } from '@crux/compose/corpus'
import type { ContainerConfigFields } from '@crux/contract'
import { engine, removeContainers, unique } from '@crux/test-kit'
import { describeContainer, wholeRecords } from '../kit/compose-container.ts'
import { composeRows } from '../kit/compose-rows.ts'
import { deploySuccessfully, inspectPrefix } from '../kit/deployed-containers.ts'
import { moveHostPorts } from '../kit/host-ports.ts'
import { createStubImage } from '../kit/stub-image.ts'
import { expect, type TestSystem, test } from '../kit/test-system.ts'

// Compose files of the corpus are imported and deployed; what the engine then shows is compared with what each file asks for. The images are local ones
// that stand for the real ones, published ports are moved to free ones, and a check of a health runs each second where it would run later than after 5 s.

type Converted = ConvertResult['images'][number]

const digest = /sha256:[0-9a-f]{64}/
const files = {
  '/ready': '',
  '/entrypoint.sh': '#!/bin/sh\nexec /bin/serve\n',
  '/bin/curl': '#!/bin/sh\nexec wget -q -O - "$2"\n',
}

/** Pushes an image of its own for a service, under the tag and the form of reference that the compose file has. */
async function pushImage({ testEnvironment, registry }: TestSystem, example: string, image: Converted) {
  const name = `corpus/${example}/${image.service}`
  const exits = image.config.expectedState?.state === 'exited'
  const pushedTag = image.tag?.replace(digest, '').replace('@', '') || 'latest'
  const stub = createStubImage(image.name, { ports: [80, 5432], exits, files })
  // The label makes each image another one.
  const pushed = await registry.push(name, pushedTag, { ...stub, labels: { 'test.image': name } })
  const tag = image.tag?.replace(digest, pushed) ?? null
  return { registryId: testEnvironment.registryId, name, tag, reference: `${registry.host}/${name}@${pushed}` }
}

function shortenInterval({ healthCheckConfig }: ContainerConfigFields): Partial<ContainerConfigFields> {
  if (!healthCheckConfig || healthCheckConfig.test === 'none' || (healthCheckConfig.intervalSeconds ?? 30) <= 5)
    return {}
  return { healthCheckConfig: { ...healthCheckConfig, intervalSeconds: 1 } }
}

async function deployCase(testSystem: TestSystem, example: string, prefix: string) {
  const { teamSlug, nodeId, user } = testSystem.testEnvironment
  const originals = new Map<number, number>()
  const services = await Promise.all(
    importCorpusCase(example).images.map(async (image) => {
      const { reference, ...pushed } = await pushImage(testSystem, example, image)
      const { originals: moved, ...ports } = await moveHostPorts(image.config)
      for (const [port, original] of moved) originals.set(port, original)
      const imported = { ...pushed, config: { ...image.config, ...ports, ...shortenInterval(image.config) } }
      return { service: image.service, reference, imported }
    }),
  )
  const { versionId } = await user.client.call('projects.import', {
    params: { teamSlug },
    body: {
      project: { name: unique(`${example} `), type: 'versionless' },
      images: services.map(({ imported }) => imported),
    },
  })
  const deployment = await user.client.call('deployments.create', {
    params: { teamSlug },
    body: { versionId, nodeId, prefix },
  })
  await deploySuccessfully(testSystem.testEnvironment, deployment.id)
  return { services, originals }
}

async function checkCase(testSystem: TestSystem, example: string, prefix: string) {
  const rows = composeRows[example] ?? {}
  const { services, originals } = await deployCase(testSystem, example, prefix)
  expect(services.map(({ service }) => service).sort()).toEqual(Object.keys(rows).sort())
  const inspected = await inspectPrefix(prefix)
  const containers = new Map(
    services.flatMap(({ service, imported }) => {
      const info = inspected.get(`${prefix}-${imported.config.name}`)
      return info ? [[service, info] as const] : []
    }),
  )
  expect([containers.size, inspected.size]).toEqual([services.length, services.length])
  for (const { service, reference, imported } of services) {
    const { tag } = imported
    const info = containers.get(service)
    const row = rows[service]
    if (!info || !row) throw new Error(`${example} has no ${service}`)
    const described = describeContainer(info, containers, originals)
    expect(described, service).toMatchObject({ State: { Status: 'running' }, ...row })
    expect(info.Image, service).toBe((await engine<{ Id: string }>('GET', `/images/${reference}/json`)).Id)
    if (!tag?.includes('sha256:')) expect(info.Config.Image).toMatch(new RegExp(`/${service}:${tag ?? 'latest'}$`))
    for (const key of wholeRecords) expect(described[key], service).toEqual(row[key] ?? {})
  }
}

test('containers of imported compose files are what the files ask for', async ({ testSystem }) => {
  test.setTimeout(180_000)
  const examples = Object.keys(composeRows).map((example, index) => ({ example, prefix: unique(`c${index}`) }))
  const results = await Promise.allSettled(
    examples.map(async ({ example, prefix }) => {
      await checkCase(testSystem, example, prefix)
      return example
    }),
  )
  for (const { prefix } of examples) await removeContainers(`dev.crux.prefix=${prefix}`)
  expect(results).toEqual(examples.map(({ example }) => ({ status: 'fulfilled', value: example })))
})
