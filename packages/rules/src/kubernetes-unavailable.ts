import type { ContainerConfigFields } from '@crux/contract'
import { type ConfigProblem, collectProblems } from './config-problem.ts'
import { parseReference } from './parse-reference.ts'
import { isLoopbackName } from './registry-url.ts'
import { isExposed } from './routes.ts'

type Volume = NonNullable<ContainerConfigFields['volumes']>[number]

/** The name becomes that of an object, behind that of the container, and may be no path of a machine. */
const claimName = /^[-a-z0-9.]*[a-z0-9]$/
/** Whether the volume is a claim on a cluster; others are part of the pod. */
export const isClaim = ({ type }: Pick<Volume, 'type'>): boolean => type !== 'mem' && type !== 'tmp'

/** Whether the volume is a claim that only one pod may write. */
export const isWritableByOne = ({ type }: Pick<Volume, 'type'>): boolean => (type ?? 'rwo') === 'rwo'

/** The container of a pod that copies files into its volumes. No other one may have the name. */
export const preparationName = 'crux-prepare'

/** The volumes into which files are copied before the container starts, each with the setting that names it. */
export const listFilledVolumes = <V extends Pick<Volume, 'name'>>({
  configContainer,
  storage,
  volumes,
}: Pick<ContainerConfigFields, 'configContainer' | 'storage'> & { volumes?: readonly V[] | null }): {
  property: 'configContainer.volume' | 'storage.path'
  volume: V
}[] => {
  const find = (property: 'configContainer.volume' | 'storage.path', name: string | null | undefined) =>
    (volumes ?? []).flatMap((volume) => (volume.name === name ? [{ property, volume }] : []))
  return [
    ...find('configContainer.volume', configContainer?.volume),
    ...find('storage.path', storage?.storageId ? storage.path : undefined),
  ]
}

/**
 * The claim because of which the pods of a container are replaced all at once: only one of them may write to it, or files are copied into it
 * that pods of the previous release would find changed.
 */
export const findExclusiveClaim = (
  config: Pick<ContainerConfigFields, 'configContainer' | 'storage' | 'volumes'>,
): { volume: Volume; isFilled: boolean } | undefined => {
  const volume = config.volumes?.find(isWritableByOne)
  if (volume) return { volume, isFilled: false }
  const filled = listFilledVolumes(config).find((one) => isClaim(one.volume))
  return filled && { volume: filled.volume, isFilled: true }
}

/**
 * What a cluster cannot do, or Crux does not do there: a release that left it out would succeed without a part of its configuration.
 *
 * @param cluster.ingressClass of the node's settings; null: nothing can be exposed
 */
export const kubernetesUnavailable = (
  config: ContainerConfigFields,
  { ingressClass }: { ingressClass: string | null },
): ConfigProblem[] =>
  collectProblems((report) => {
    const refuse = (property: string, description: string) => report(property, 'unavailable', description)
    for (const { property, volume } of listFilledVolumes(config))
      if (volume.type === 'ro')
        refuse(
          property,
          `The volume ${volume.name} has the type ro, which a cluster attaches for reading alone, so that no files can be copied into it: set its type to rwo or rwx`,
        )
    checkPreparation(config, refuse)
    if (isExposed(config)) {
      if (!ingressClass)
        refuse(
          'expose',
          "The node has no ingress class, so nothing would lead requests to the container: an admin can set one in the node's settings",
        )
      else if (ingressClass !== 'nginx')
        for (const property of nginxOptions(config))
          refuse(property, `It needs the ingress class nginx, and the node has ${ingressClass}`)
    }
    if (config.expectedState?.state === 'waiting')
      refuse('expectedState.state', 'A cluster has no containers that wait: choose running or exited')
    for (const [index, volume] of (config.volumes ?? []).entries())
      if (isClaim(volume) && !claimName.test(volume.name))
        refuse(
          `volumes[${index}].name`,
          `The volume name "${volume.name}" is not valid on a cluster: use lower-case letters, digits and dashes`,
        )
    const exclusive = findExclusiveClaim(config)
    if (!exclusive) return
    const { isFilled, volume } = exclusive
    // A claim that is bound to one machine does not keep two pods on that machine from writing at the same time.
    if (!isFilled && (config.replicas ?? 1) > 1)
      refuse(
        'replicas',
        `The volume ${volume.name} may be written by one pod only: set its type to rwx, or replicas to 1`,
      )
    if (config.deploymentStrategy === 'rolling')
      refuse(
        'deploymentStrategy',
        isFilled
          ? `Files are copied into the volume ${volume.name}, which pods of the previous release would find changed, so pods cannot be replaced one after another: choose recreate, or set the type of the volume to tmp`
          : `The volume ${volume.name} may be written by one pod only, so pods cannot be replaced one after another: choose recreate, or set the type of the volume to rwx`,
      )
  })

/** What the container that copies files into volumes cannot do, and its name. */
function checkPreparation(
  config: ContainerConfigFields,
  refuse: (property: string, description: string) => void,
): void {
  const { configContainer, initContainers, name, storage } = config
  const host = toRegistryHost(configContainer?.image ?? '')
  if (host !== null && isLoopbackName(host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')))
    refuse(
      'configContainer.image',
      `On a cluster, the files are read by a pod, which does not reach the registry ${host} of a machine: use one that pods reach`,
    )
  const kept = `The name ${preparationName} is kept for the container that copies files into volumes`
  if (name === preparationName && (configContainer || storage?.storageId)) refuse('name', kept)
  for (const [index, init] of (initContainers ?? []).entries())
    if (init.name === preparationName) refuse(`initContainers[${index}].name`, kept)
}

function toRegistryHost(image: string): string | null {
  const parsed = parseReference(image)
  return parsed.ok ? parsed.reference.host : null
}

/** The settings in use that only annotations of the nginx controller express. */
function nginxOptions({ customHeaders, proxyHeaders, routing }: ContainerConfigFields): string[] {
  const used: readonly (readonly [string, boolean])[] = [
    ['routing.stripPath', isPathStripped(routing)],
    ['routing.uploadLimit', Boolean(routing?.uploadLimit)],
    ['proxyHeaders', proxyHeaders === true],
    ['customHeaders', (customHeaders ?? []).length > 0],
  ]
  return used.flatMap(([property, isUsed]) => (isUsed ? [property] : []))
}

/** Whether the container sees the address without the path that leads to it. */
export const isPathStripped = (routing: ContainerConfigFields['routing']): boolean =>
  routing?.stripPath === true && (routing.path ?? '').replace(/\/+$/, '') !== ''
