import type { FinalContainerConfig } from '@crux/contract'
import { patterns } from '@crux/contract'
import { toConfigSource } from '../../file-sources.ts'
import { getRegistry, imageKey, type ParsedImage, parseImage } from '../../images/image-reference.ts'
import { toVolumes } from './claims.ts'
import { assertVariableNames } from './config-objects.ts'
import type { DesiredWorkload } from './desired-workload.ts'
import { escapeReferences } from './workload.ts'

type InitContainer = NonNullable<FinalContainerConfig['initContainers']>[number]

interface InitParts {
  /** By the keys of images. */
  digests: Readonly<Record<string, string>>
  /** Whether the image of the container is one that only the nodes have. */
  isLocal: boolean
  configMap: string | undefined
  secret: string | undefined
}

/** The images of what happens before the container starts, each once. @throws Error with a sentence for users */
export function listPreparationImages(config: FinalContainerConfig): ParsedImage[] {
  const files = toConfigSource(config)
  const images = [
    ...(files ? [files.image] : []),
    ...(config.initContainers ?? []).map(({ image }) => parseImage(image)),
  ]
  return [...new Map(images.map((image) => [imageKey(image), image])).values()]
}

/** An image that no registry has: one beside the image of a container whose image is the nodes' own. */
export const isLocalInitImage = (image: ParsedImage, container: { imageName: string; isLocal: boolean }): boolean =>
  container.isLocal && !image.digest && getRegistry(image.name) === getRegistry(container.imageName)

/** What runs before the container, one after another. @throws Error with a sentence for users */
export function toInitContainers(desired: DesiredWorkload, parts: InitParts): object[] {
  const { config, name } = desired
  const names = new Set([name])
  return (config.initContainers ?? []).map((init) => {
    if (!patterns.dnsLabel.test(init.name))
      throw new Error(
        `initContainers: "${init.name}" is not a name on a cluster: use lower-case letters, digits, dashes`,
      )
    if (names.has(init.name)) throw new Error(`initContainers: two containers of the pod are named ${init.name}`)
    names.add(init.name)
    return toInitContainer(init, desired, parts)
  })
}

function toInitContainer(init: InitContainer, desired: DesiredWorkload, parts: InitParts): object {
  const { config, image, name } = desired
  const { args, command, environment, useParentConfig } = init
  assertVariableNames(
    'initContainers',
    (environment ?? []).map(({ key }) => key),
  )
  const env = (environment ?? []).map(({ key, value }) => ({ name: key, value: escapeReferences(value) }))
  const envFrom = [
    ...(parts.configMap ? [{ configMapRef: { name: parts.configMap } }] : []),
    ...(parts.secret ? [{ secretRef: { name: parts.secret } }] : []),
  ]
  const volumeMounts = toLinks(init, config, name)
  return {
    name: init.name,
    ...toImage(init, image.name, parts),
    ...(command?.length && { command: command.map(({ key }) => escapeReferences(key)) }),
    ...(args?.length && { args: args.map(({ key }) => escapeReferences(key)) }),
    ...(useParentConfig && envFrom.length > 0 && { envFrom }),
    ...(env.length > 0 && { env }),
    ...(volumeMounts.length > 0 && { volumeMounts }),
    securityContext: { allowPrivilegeEscalation: false },
  }
}

/** A tag may be another image on each node, and after each restart of a pod. */
function toImage({ image, name }: InitContainer, containerImage: string, { digests, isLocal }: InitParts): object {
  const parsed = parseImage(image)
  if (isLocalInitImage(parsed, { imageName: containerImage, isLocal }))
    return { image: `${parsed.name}:${parsed.tag}`, imagePullPolicy: 'Never' }
  const key = imageKey(parsed)
  const digest = parsed.digest ?? (Object.hasOwn(digests, key) ? digests[key] : undefined)
  if (!digest || !patterns.digest.test(digest)) throw new Error(`initContainers: the digest of ${name} is not known`)
  return { image: `${parsed.name}@${digest}`, imagePullPolicy: 'IfNotPresent' }
}

/** The same volume of the pod, also one in memory. A claim that is only read stays so: the cluster would not attach it for writing. */
function toLinks({ name: init, volumes }: InitContainer, config: FinalContainerConfig, name: string): object[] {
  const parent = toVolumes(name, config).mounts
  return (volumes ?? []).map((link) => {
    const index = config.volumes.findIndex((volume) => volume.name === link.name)
    const mount = parent[index]
    if (!mount)
      throw new Error(`initContainers: ${init} links the volume ${link.name}, which is none of this container`)
    return { ...mount, mountPath: link.path }
  })
}
