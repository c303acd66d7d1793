import { randomUUID } from 'node:crypto'
import type { ImportedImage } from '@crux/contract'
import { unique } from '@crux/test-kit'
import { median, now, type Report } from './measure.ts'
import type { TestSystem } from './test-system.ts'

const images = 200

/** One request that creates a project with 200 images and their configurations. The registry is unchecked, so that none is asked for labels. */
export async function composeImport({ testEnvironment }: TestSystem, report: Report, rounds: number): Promise<void> {
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug }
  const registry = await client.call('registries.create', {
    params,
    body: { name: unique('bench-'), type: 'unchecked', details: { local: true } },
  })
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const body = {
      project: { name: unique('import-'), type: 'versionless' as const },
      images: Array.from({ length: images }, (_, index) => toImage(registry.id, index)),
    }
    const from = now()
    await client.call('projects.import', { params, body })
    times.push(now() - from)
  }
  report.number(`import of a project with ${images} images`, median(times), 'ms', '<= 1000')
}

const toImage = (registryId: string, index: number): ImportedImage => ({
  registryId,
  name: `group/service-${index}`,
  tag: '1.0',
  config: {
    name: `service-${index}`,
    environment: Array.from({ length: 20 }, (_, key) => ({ key: `KEY_${key}`, value: randomUUID() })),
    ports: [{ internal: 8080, external: 10_000 + index }],
    volumes: [{ name: 'data', path: '/var/lib/data', type: 'rwo' }],
    healthCheckConfig: { test: 'exec', arguments: [{ key: 'true' }], intervalSeconds: 5 },
  },
})
