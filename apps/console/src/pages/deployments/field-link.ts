import type { ResponseOf } from '@crux/contract'
import { links } from '../../routing/links.ts'

type Details = ResponseOf<'deployments.get'>
export type Problem = ResponseOf<'deployments.preview'>['problems'][number]
type Link = ReturnType<typeof links.containerConfiguration>

/**
 * Links a problem of a start to the field of the layer that it names. A conflict of config bundles is resolved on the deployment
 * itself. Null for a problem outside of configurations.
 */
export function problemLink(teamSlug: string, deployment: Details, problem: Problem): Link | null {
  const { property } = problem
  if (problem.error === 'ambiguousInConfigs' || problem.error === 'ambiguousKeyInConfigs')
    return fieldLink(teamSlug, deployment.config.id, property)
  const bundle = /^configBundles\[(\d+)\]\.config\.(.+)$/.exec(property)
  if (bundle) {
    const [, index, path = ''] = bundle
    const configId = deployment.configBundles[Number(index)]?.configId
    return configId ? fieldLink(teamSlug, configId, path) : null
  }
  const instance = /^instances\[\d+\]\.config\.(.+)$/.exec(property)
  if (instance) return instanceLink(teamSlug, deployment, problem.instanceId, instance[1] ?? '')
  return property.startsWith('config.') ? fieldLink(teamSlug, deployment.config.id, property.slice(7)) : null
}

/** The field in an instance's own configuration; null for one that the deployment no longer has. */
export function instanceLink(
  teamSlug: string,
  deployment: Details,
  instanceId: string | null | undefined,
  path: string,
): Link | null {
  const configId = deployment.instances.find((instance) => instance.id === instanceId)?.config.id
  return configId ? fieldLink(teamSlug, configId, path) : null
}

/** `environment.LEVEL`, `volumes[0].path`: the page opens the section and begins at that field of it. */
const fieldLink = (teamSlug: string, configId: string, path: string): Link =>
  links.containerConfiguration(teamSlug, configId, undefined, path)
