import type { Instance, Release } from '@crux/agent-protocol'
import { type FinalContainerConfig, isClusterNamespace, patterns } from '@crux/contract'
import { getMessage, PlanError } from '../../../errors.ts'
import type { ImageReference } from '../../images/image-reference.ts'
import { isDigestName } from '../../images/image-reference.ts'
import { parseInstanceConfig, refuseDangerous } from '../../instance-config.ts'
import type { ClusterSettings } from './cluster-settings.ts'
import { refuseUnavailable } from './unavailable.ts'

/** An instance of a release, parsed and validated, before its image is known. */
export interface DesiredWorkload {
  instanceId: string
  /** Of the workload and its service: other containers of the prefix reach it by this name. */
  name: string
  namespace: string
  config: FinalContainerConfig
  image: ImageReference
  settings: ClusterSettings
  /** Whether what follows in the release waits until this one is verified. */
  holdsBack: boolean
}

const labelValue = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** @throws PlanError for a configuration that cannot be applied as a whole: a setting is never silently left out */
export function toDesiredWorkload(release: Release, instance: Instance, settings: ClusterSettings): DesiredWorkload {
  const { instanceId } = instance
  try {
    return desiredFrom(release, instance, settings)
  } catch (error) {
    throw error instanceof PlanError ? error : new PlanError(instanceId, getMessage(error), { cause: error })
  }
}

function desiredFrom(release: Release, instance: Instance, settings: ClusterSettings): DesiredWorkload {
  const { hostDangerousAllowed, owner } = release
  const { imageName, imageTag, instanceId } = instance
  if (!owner) throw new Error('the release names no owner')
  const { prefix } = owner
  if (!patterns.dnsLabel.test(prefix) || prefix.length > 63)
    throw new Error(`the prefix "${prefix}" is not a DNS label`)
  if (isClusterNamespace(prefix))
    throw new Error(`the prefix ${prefix} is a namespace of the cluster itself: choose another prefix`)
  const ids = [owner.teamId, owner.projectId, owner.nodeId, instanceId, release.key?.deploymentId ?? '']
  // They become values of labels, by which objects are found and owned: the cluster would refuse others in the middle of the release.
  const invalid = ids.find((id) => !labelValue.test(id))
  if (invalid !== undefined) throw new Error(`"${invalid}" is no id that the value of a label can be`)
  const config = parseInstanceConfig(instance)
  if (isDigestName(imageName)) throw new Error(`${imageName}:${imageTag} is the id of an image`)
  refuseDangerous(config, hostDangerousAllowed)
  refuseUnavailable(config, { hostDangerousAllowed, settings })
  return {
    instanceId,
    name: config.name,
    namespace: prefix,
    config,
    settings,
    image: { name: imageName, tag: imageTag },
    holdsBack: config.expectedState != null || hasProbe(config),
  }
}

const hasProbe = ({ healthCheckConfig: health }: FinalContainerConfig): boolean =>
  Boolean(health?.startupProbe || health?.readinessProbe || health?.command || health?.test === 'exec')
