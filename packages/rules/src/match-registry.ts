import type { RegistryType } from '@crux/contract'
import { isHubHost } from './full-image-name.ts'
import { parseRegistryUrl } from './registry-url.ts'

/** What of a registry tells which images it has. */
type RegistrySource = { id: string; type: RegistryType; url: string; imageUrlPrefix: string }
export type RegistryMatch<Source extends RegistrySource> = {
  registry: Source
  /** The name to store with the registry, which is relative to its prefix. */
  imageName: string
}

/**
 * Finds the registry of a team for an image by its full name, such as `docker.io/library/nginx` (`parseFullImageName`). The longest prefix wins; of
 * two registries with the same prefix, one that can be listed wins over an unchecked one, then the first of the list. Unchecked registries without
 * an address match nothing, because they have no prefix.
 */
export function matchRegistry<Source extends RegistrySource>(
  fullName: string,
  registries: readonly Source[],
): RegistryMatch<Source> | undefined {
  let best: { match: RegistryMatch<Source>; rank: number } | undefined
  for (const registry of registries) {
    const prefix = getFullPrefix(registry)
    if (prefix === undefined || !fullName.startsWith(`${prefix}/`)) continue
    const rank = prefix.length * 2 + (registry.type === 'unchecked' ? 0 : 1)
    if (best !== undefined && best.rank >= rank) continue
    best = { rank, match: { registry, imageName: getRelativeName(registry, prefix, fullName) } }
  }
  return best?.match
}

/** GitLab lists images by their whole path, which contains the group or project; all others without their prefix. */
function getRelativeName(registry: RegistrySource, prefix: string, fullName: string): string {
  const start = registry.type === 'gitlab' ? prefix.indexOf('/') : prefix.length
  return fullName.slice(start + 1)
}

/** The full name that all images of a registry begin with, without a slash at its end. */
function getFullPrefix({ type, url, imageUrlPrefix }: RegistrySource): string | undefined {
  if (type === 'hub') {
    const prefix = trimmed(imageUrlPrefix.replace(/^hub\.docker\.com/, ''))
    return prefix === '' ? undefined : `docker.io/${prefix}`
  }
  const parsed = parseRegistryUrl(url)
  if (!parsed.ok) return undefined
  const path = trimmed(imageUrlPrefix.replace(/^[a-z]+:\/\//i, ''))
    .split('/')
    .slice(1)
  const { host } = parsed.address
  return [isHubHost(host) ? 'docker.io' : host, ...path].join('/')
}

const trimmed = (part: string) => part.replace(/^\/+|\/+$/g, '')
