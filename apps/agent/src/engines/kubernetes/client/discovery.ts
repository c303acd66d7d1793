import { z } from 'zod'
import { EngineError } from '../../../errors.ts'
import type { Api } from './api.ts'

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const Discovery = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string().default('') }).prefault({}),
      versions: z
        .array(
          z.object({
            version: z.string(),
            freshness: z.string().default('Current'),
            resources: z
              .array(z.object({ resource: z.string(), scope: z.string(), verbs: z.array(z.string()).default([]) }))
              .default([]),
          }),
        )
        .default([]),
    }),
  ),
})

/**
 * The kinds that are stored in namespaces, of all groups and versions (aggregated discovery, Kubernetes 1.30).
 *
 * @throws EngineError `unavailable` when an aggregated API server does not answer: what it has is not known
 */
export async function listNamespacedResources(api: Api): Promise<string[]> {
  const names = new Set<string>()
  for (const path of ['/api', '/apis']) {
    const { items } = Discovery.parse(await api.json({ path, accept }))
    for (const { metadata, versions } of items)
      for (const { freshness, resources, version } of versions) {
        if (freshness !== 'Current')
          throw new EngineError(
            'unavailable',
            `The cluster does not know which kinds its API ${metadata.name}/${version} has: its server does not answer`,
          )
        for (const { resource, scope, verbs } of resources)
          if (scope === 'Namespaced' && verbs.includes('list') && verbs.includes('create'))
            names.add(metadata.name === '' ? resource : `${resource}.${metadata.name}`)
      }
  }
  return [...names].sort()
}
