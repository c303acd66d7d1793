import type { RegistryType } from '@crux/contract'
import { parseImageTag } from '@crux/rules'

export type RegistryLocation = {
  type: RegistryType
  url: string
  imageNamePrefix: string | null
  local: boolean
}

/**
 * The image's full reference without tag, as engine and agent use it: `docker.io/library/nginx`,
 * `registry.example.com:5000/group/app`. For a local registry the name stays unchanged, as the engine's own store has
 * it.
 */
export function imageReference(registry: RegistryLocation, imageName: string): string {
  if (registry.local) return imageName
  // GitLab lists images by their whole path, which contains the group or project.
  const prefix = registry.type === 'gitlab' ? '' : trimmed(registry.imageNamePrefix)
  if (registry.type === 'hub') return withHost(joined('docker.io', prefix, imageName))
  return withHost(joined(registryHost(registry.url), prefix, imageName))
}

/**
 * The tag and the digest of an image in a release. An image without a tag gets one that is made of its digest: the
 * engine shows the container by it, and no registry is asked for it. The engine's own store has no digests of registries,
 * so that a pinned image of it, which was added before the registry was changed, is not found instead of being replaced
 * by another one.
 */
export function toReleaseImage({ tag, localOnly }: { tag: string; localOnly: boolean }) {
  const pin = parseImageTag(tag)
  if (!pin.digest) return { imageTag: tag, digest: null }
  const ofDigest = pin.digest.replace(':', '-').slice(0, 'sha256-'.length + 12)
  return localOnly ? { imageTag: ofDigest, digest: null } : { imageTag: pin.tag ?? ofDigest, digest: pin.digest }
}

/** The address under which the engine keeps credentials (RegistryAuth of the protocol). */
export const serverAddress = (reference: string): string => {
  const host = reference.split('/', 1)[0] ?? ''
  return host === 'docker.io' ? 'https://index.docker.io/v1/' : host
}

/** `https://registry.example.com:5000/` becomes `registry.example.com:5000`. */
export const registryHost = (url: string): string => trimmed(url.replace(/^[a-z]+:\/\//i, ''))

const trimmed = (part: string | null) => (part ?? '').trim().replace(/^\/+|\/+$/g, '')
const joined = (...parts: string[]) => parts.filter((part) => part !== '').join('/')

/** A name without a host comes from Docker Hub, and a single word from its library. */
function withHost(reference: string): string {
  const [first = '', ...rest] = reference.split('/')
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const full = isHost ? reference : `docker.io/${reference}`
  const parts = full.split('/')
  return parts[0] === 'docker.io' && parts.length === 2 ? `docker.io/library/${parts[1]}` : full
}
