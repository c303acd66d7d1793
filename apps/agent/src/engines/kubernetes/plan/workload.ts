import { createHash } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import type { FinalContainerConfig } from '@crux/contract'
import { canonicalJson, capabilityName, findExclusiveClaim } from '@crux/rules'
import { toExpectation } from '../../expectation.ts'
import { label, releaseLabels } from '../../labels.ts'
import type { Manifest } from '../cluster/cluster.ts'
import { toVolumes } from './claims.ts'
import type { DesiredWorkload } from './desired-workload.ts'
import { toServicePorts } from './ports.ts'
import {
  type PodPreparation,
  preparationSeconds,
  toGroup,
  toPreparationContainer,
  toPreparationVolumes,
} from './preparation.ts'
import { toProbes } from './probes.ts'
import { annotated, toUserAnnotations, toUserLabels } from './user-rows.ts'

/** The same as Docker's. */
const defaultGraceSeconds = 10
/** While a pod ends, the machines learn that its service no longer leads to it. */
const defaultDrainSeconds = 2
const labelValueMax = 63
/** Earlier revisions that the cluster keeps. */
export const revisionHistoryLimit = 10

/** How long a pull of an image may take, which no other limit includes. */
export const pullSeconds = 3_600

/** What the pods of a workload are made of, besides its configuration. */
export interface PodParts {
  /** "name:tag@sha256:...", or "name:tag" of an image that the nodes have. */
  image: string
  isLocal: boolean
  configMap: string | undefined
  secret: string | undefined
  pullSecret: string | undefined
  /** Absent where no files are copied into its volumes. */
  preparation: PodPreparation | undefined
  initContainers: readonly object[]
}

/** Labels that every object of a workload has. They name its owner, and no member can set them. */
export function ownLabels(release: Release, { config, instanceId }: DesiredWorkload): Record<string, string> {
  return { ...releaseLabels(release), [label.instance]: instanceId, [label.name]: config.name }
}

/**
 * Of a Deployment, whose ReplicaSets tell their own pods from others of the name. It never changes, and the instances of the next version have
 * other ids.
 */
export const toSelector = ({ config }: Pick<DesiredWorkload, 'config'>): Record<string, string> => ({
  [label.name]: config.name,
})

/**
 * Selects the pods of the container, and its Service, by its owner too: projects may share a prefix, and a Job of another one may have the
 * name. Not by the node, because a reinstalled one takes over pods that have the labels of its predecessor.
 */
export const toOwnSelector = (
  { owner }: Release,
  desired: Pick<DesiredWorkload, 'config'>,
): Record<string, string> => ({
  ...toSelector(desired),
  ...(owner && {
    [label.team]: owner.teamId,
    [label.project]: owner.projectId,
    [label.prefix]: owner.prefix,
  }),
})

/**
 * How much longer than the observation window a pod has to be ready. One second, because the cluster counts from the begin of the second in which
 * the pod became ready; another one, because a kubelet looks at its containers once a second, and reports the end of one that much later.
 */
const lateSeconds = 2

/** A Deployment that keeps pods running, with a rollout that ends in time. */
export function toDeployment(release: Release, desired: DesiredWorkload, parts: PodParts, hash: string): Manifest {
  const { config, name, namespace } = desired
  const { timeoutMs, windowMs } = toExpectation(config, release.observationWindowMs)
  const minReadySeconds = Math.ceil(windowMs / 1_000) + lateSeconds
  // The cluster refuses a deadline that is not later.
  const deadlineSeconds = Math.max(Math.ceil(timeoutMs / 1_000), minReadySeconds + 1)
  const isRolling = canRoll(config)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      namespace,
      labels: { ...toUserLabels(config, 'deployment'), ...ownLabels(release, desired) },
      annotations: toAnnotations(config, hash),
    },
    spec: {
      replicas: config.replicas ?? 1,
      selector: { matchLabels: toSelector(desired) },
      // Never fewer pods than before. A quarter more at a time, at least one: the cluster has room for it, or says that it has none.
      strategy: isRolling
        ? { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } }
        : { type: 'Recreate' },
      minReadySeconds,
      progressDeadlineSeconds: deadlineSeconds + (parts.preparation ? preparationSeconds : 0),
      revisionHistoryLimit,
      template: toTemplate(release, desired, parts, { isRolling, restartPolicy: 'Always', deadlineSeconds }),
    },
  }
}

/**
 * The name of the Job of one release: a Job cannot be changed, so that each release makes another one. Releases are counted per deployment, and
 * each version of a project has its own, so a hash of both makes the name unique in the namespace. It is also a label of the Job's pods.
 */
function toJobName(name: string, { key }: Release): string {
  const number = key?.number ?? 0
  const hash = createHash('sha256')
    .update(canonicalJson([key?.deploymentId ?? '', number, name]))
    .digest('hex')
    .slice(0, 8)
  const suffix = `-${number}-${hash}`
  return name.slice(0, labelValueMax - suffix.length).replace(/[-._]+$/, '') + suffix
}

/** A Job for a container that does its work and ends. */
export function toJob(release: Release, desired: DesiredWorkload, parts: PodParts, hash: string): Manifest {
  const { config, name, namespace } = desired
  const { timeoutMs } = toExpectation(config, release.observationWindowMs)
  const deadlineSeconds = Math.max(1, Math.ceil(timeoutMs / 1_000))
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: toJobName(name, release),
      namespace,
      labels: { ...toUserLabels(config, 'deployment'), ...ownLabels(release, desired) },
      annotations: toAnnotations(config, hash),
    },
    spec: {
      backoffLimit: 0,
      // The cluster would count the pull. The agent ends a Job in time; this ends the Job of an agent that is gone.
      activeDeadlineSeconds: deadlineSeconds + pullSeconds + (parts.preparation ? preparationSeconds : 0),
      template: toTemplate(release, desired, parts, { isRolling: false, restartPolicy: 'Never', deadlineSeconds }),
    },
  }
}

/** Keys of secrets are listed with commas, which the value of a label cannot have. */
function toAnnotations(config: FinalContainerConfig, hash: string): Record<string, string> {
  const { secrets } = config
  const keys = secrets.map(({ key }) => key).join(',')
  return {
    ...toUserAnnotations(config, 'deployment'),
    [label.configHash]: hash,
    ...(keys !== '' && { [label.secretKeys]: keys }),
  }
}

/** Pods of two releases run side by side only where no volume may have two writers, and the new release changes no files of the other one. */
const canRoll = (config: FinalContainerConfig): boolean =>
  config.deploymentStrategy !== 'recreate' && !findExclusiveClaim(config)

/** Whether two pods of the container may use its volumes at the same time. */
export const mayRunSeveralPods = (config: FinalContainerConfig): boolean =>
  config.expectedState?.state !== 'exited' && (canRoll(config) || (config.replicas ?? 1) > 1)

function toTemplate(
  release: Release,
  desired: DesiredWorkload,
  parts: PodParts,
  options: { isRolling: boolean; restartPolicy: 'Always' | 'Never'; deadlineSeconds: number },
): object {
  const { config } = desired
  const drainSeconds = options.isRolling ? toDrainSeconds(release, config) : 0
  const { preparation } = parts
  const volumes = [
    ...toVolumes(desired.name, config).volumes,
    ...(preparation ? toPreparationVolumes(preparation) : []),
  ]
  const initContainers = [
    ...(preparation ? [toPreparationContainer(release, preparation)] : []),
    ...parts.initContainers,
  ]
  return {
    metadata: {
      labels: { ...toUserLabels(config, 'deployment'), ...ownLabels(release, desired) },
      ...annotated(toUserAnnotations(config, 'deployment')),
    },
    spec: {
      // A pod gets no way to the API of the cluster, nor addresses of other services.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' }, ...toVolumeOwner(config, preparation) },
      restartPolicy: options.restartPolicy,
      terminationGracePeriodSeconds: config.stopGracePeriodSeconds ?? defaultGraceSeconds,
      ...(parts.pullSecret && { imagePullSecrets: [{ name: parts.pullSecret }] }),
      ...(volumes.length > 0 && { volumes }),
      ...(initContainers.length > 0 && { initContainers }),
      containers: [toContainer(desired, parts, { ...options, drainSeconds })],
    },
  }
}

/**
 * New claims mostly belong to root: a process of another user could not write to them. Their owner is changed once, not at every start, unless
 * a preparation has to write to all that other users have left in them.
 */
function toVolumeOwner({ user, volumes }: FinalContainerConfig, preparation: PodPreparation | undefined): object {
  if (preparation) return { fsGroup: toGroup(user), fsGroupChangePolicy: 'Always' }
  const hasClaim = volumes.some(({ type }) => type !== 'mem' && type !== 'tmp' && type !== 'ro')
  return user != null && user > 0 && hasClaim ? { fsGroup: user, fsGroupChangePolicy: 'OnRootMismatch' } : {}
}

/** It is part of the time that a pod gets to end, of which the program keeps a second. */
function toDrainSeconds({ cluster }: Release, config: FinalContainerConfig): number {
  if (toServicePorts(config).length === 0) return 0
  const grace = config.stopGracePeriodSeconds ?? defaultGraceSeconds
  return Math.max(0, Math.min(cluster?.drainSeconds ?? defaultDrainSeconds, grace - 1))
}

function toContainer(
  { config, name }: DesiredWorkload,
  parts: PodParts,
  { deadlineSeconds, drainSeconds }: { drainSeconds: number; deadlineSeconds: number },
): object {
  const { args, commands, tty, workingDirectory } = config
  const { mounts } = toVolumes(name, config)
  const envFrom = [
    ...(parts.configMap ? [{ configMapRef: { name: parts.configMap } }] : []),
    ...(parts.secret ? [{ secretRef: { name: parts.secret } }] : []),
  ]
  return {
    name,
    image: parts.image,
    imagePullPolicy: parts.isLocal ? 'Never' : 'IfNotPresent',
    ...(commands.length > 0 && { command: commands.map(({ key }) => escapeReferences(key)) }),
    ...(args.length > 0 && { args: args.map(({ key }) => escapeReferences(key)) }),
    ...(workingDirectory && { workingDir: workingDirectory }),
    ...(tty && { tty: true }),
    ...(envFrom.length > 0 && { envFrom }),
    ...(config.ports.length > 0 && {
      ports: config.ports.map(({ internal, protocol }) => ({
        containerPort: internal,
        protocol: protocol === 'udp' ? 'UDP' : 'TCP',
      })),
    }),
    ...(mounts.length > 0 && { volumeMounts: mounts }),
    ...toResources(config),
    ...toProbes(config, deadlineSeconds),
    ...(drainSeconds > 0 && { lifecycle: { preStop: { sleep: { seconds: drainSeconds } } } }),
    securityContext: toSecurityContext(config),
  }
}

/** The cluster would replace `$(NAME)` by a variable and `$$` by `$`. Docker passes both on as they are written. */
export const escapeReferences = (text: string): string => text.replaceAll(/\$(?=[$(])/g, '$$$$')

function toSecurityContext({ capabilities, user }: FinalContainerConfig): object {
  const names = (wanted: 'add' | 'drop') =>
    (capabilities ?? []).filter(({ value }) => value === wanted).map(({ key }) => capabilityName(key))
  const [add, drop] = [names('add'), names('drop')]
  return {
    allowPrivilegeEscalation: false,
    ...(user != null && user >= 0 && { runAsUser: user }),
    ...((add.length > 0 || drop.length > 0) && {
      capabilities: { ...(add.length > 0 && { add }), ...(drop.length > 0 && { drop }) },
    }),
  }
}

function toResources({ resourceConfig }: FinalContainerConfig): object {
  const { limits, requests } = resourceConfig ?? {}
  const pick = (given: typeof limits) => {
    const found = {
      // A limit of 0 is none.
      ...(given?.cpu && Number(given.cpu) !== 0 && { cpu: given.cpu }),
      ...(given?.memory && { memory: given.memory }),
    }
    return Object.keys(found).length > 0 ? found : undefined
  }
  const [limited, requested] = [pick(limits), pick(requests)]
  if (!limited && !requested) return {}
  return { resources: { ...(limited && { limits: limited }), ...(requested && { requests: requested }) } }
}
