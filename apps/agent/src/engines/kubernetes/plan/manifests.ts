import { createHash } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import { canonicalJson } from '@crux/rules'
import { getMessage, PlanError } from '../../../errors.ts'
import type { RegistryCredentials } from '../../images/image-reference.ts'
import { label } from '../../labels.ts'
import type { Manifest } from '../cluster/cluster.ts'
import { toClaims } from './claims.ts'
import { assertVariableNames, toConfigMap, toPullSecret, toSecret } from './config-objects.ts'
import type { DesiredWorkload } from './desired-workload.ts'
import { listAddresses, toIngress } from './ingress.ts'
import { toInitContainers } from './init-containers.ts'
import { type PreparationParts, planPreparation } from './preparation.ts'
import { toService } from './service.ts'
import { toServiceMonitor } from './service-monitor.ts'
import { ownLabels, toDeployment, toJob } from './workload.ts'

/** All objects of one workload. */
export interface WorkloadManifests {
  namespace: Manifest
  configMap: Manifest | undefined
  secret: Manifest | undefined
  pullSecret: Manifest | undefined
  /** What the init container of the agent copies into the volumes, with the credentials for it. */
  preparationSecret: Manifest | undefined
  claims: readonly Manifest[]
  /** A Deployment or a Job. */
  workload: Manifest
  service: Manifest | undefined
  ingress: Manifest | undefined
  serviceMonitor: Manifest | undefined
}

/** A workload of a release, complete: its image is a digest, its secrets are readable. In memory only. */
export interface ResolvedWorkload {
  instanceId: string
  desired: DesiredWorkload
  manifests: WorkloadManifests
}

export interface WorkloadParts {
  release: Release
  /** Undefined for an image that only the nodes have. */
  digest: string | undefined
  /** Readable values by key. */
  secrets: Readonly<Record<string, string>>
  auth: RegistryCredentials | undefined
  /** Digests of the images of what happens before the container starts, by their keys. */
  preparationDigests?: Readonly<Record<string, string>>
  /** What copies files into volumes; absent where no configuration says so. */
  preparation?: PreparationParts | undefined
}

/** @throws PlanError that names the setting */
export function toManifests(desired: DesiredWorkload, parts: WorkloadParts): WorkloadManifests {
  try {
    return manifestsFrom(desired, parts)
  } catch (error) {
    throw error instanceof PlanError ? error : new PlanError(desired.instanceId, getMessage(error), { cause: error })
  }
}

function manifestsFrom(desired: DesiredWorkload, parts: WorkloadParts): WorkloadManifests {
  const { config, image, instanceId, name, namespace } = desired
  const { auth, digest, preparation, preparationDigests = {}, release, secrets } = parts
  const { owner } = release
  if (!owner) throw new Error('the release names no owner')
  const labels = ownLabels(release, desired)
  // Objects that outlive a release, or are shared by several, do not name it.
  const { [label.release]: _release, [label.deployment]: _deployment, ...lasting } = labels
  const variables = Object.fromEntries(config.environment.map(({ key, value }) => [key, value]))
  assertVariableNames('environment', Object.keys(variables))
  assertVariableNames('secrets', Object.keys(secrets))
  const owned = { name, namespace, labels: lasting }
  const configMap = toConfigMap(owned, variables)
  const secret = toSecret({ ...owned, name: `${name}-secret` }, secrets)
  const pullSecret = toPullSecret(owned, auth)
  const claims = toClaims(desired, lasting)
  const prepared = planPreparation(desired, owned, {
    ...preparation,
    auth,
    digests: preparationDigests,
    isLocal: digest === undefined,
  })
  const pod = {
    // The cluster pulls by the digest; the tag tells people which version runs.
    image: `${image.name}:${image.tag}${digest ? `@${digest}` : ''}`,
    isLocal: digest === undefined,
    configMap: configMap?.metadata.name,
    secret: secret?.metadata.name,
    pullSecret: pullSecret?.metadata.name,
    preparation: prepared?.pod,
    initContainers: toInitContainers(desired, {
      digests: preparationDigests,
      isLocal: digest === undefined,
      configMap: configMap?.metadata.name,
      secret: secret?.metadata.name,
    }),
  }
  const service = toService(release, desired)
  const ingress = toIngress(release, desired)
  const serviceMonitor = toServiceMonitor(release, desired)
  const isJob = config.expectedState?.state === 'exited'
  const toWorkload = (hash: string) =>
    isJob ? toJob(release, desired, pod, hash) : toDeployment(release, desired, pod, hash)
  // Of the settings of the node, only those count that change anything about this container.
  const routing = [ingress?.spec, ingress?.metadata.annotations, serviceMonitor?.spec]
  const hash = createHash('sha256')
    .update(canonicalJson([instanceId, config, release.observationWindowMs, pod, claims, ...routing]))
    .digest('hex')
  return {
    namespace: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        labels: { [label.team]: owner.teamId, [label.node]: owner.nodeId, [label.prefix]: owner.prefix },
      },
    },
    configMap,
    secret,
    pullSecret,
    preparationSecret: prepared?.secret,
    claims,
    workload: withAddresses(toWorkload(hash), listAddresses(release, desired)),
    service,
    ingress,
    serviceMonitor,
  }
}

/** Pages show where a container is reached: the agent does not read ingresses for it. */
function withAddresses(workload: Manifest, addresses: readonly string[]): Manifest {
  if (addresses.length === 0) return workload
  const { annotations, ...metadata } = workload.metadata
  return {
    ...workload,
    metadata: { ...metadata, annotations: { ...annotations, [label.routes]: addresses.join(' ') } },
  }
}
