import type { ClusterObject } from '../cluster/cluster.ts'
import { listPodEvents } from './judge.ts'
import { type EventFields, readPod } from './status.ts'

/** What a container waits for while its image is pulled, and before it. */
const beforeStart: readonly string[] = ['', 'ContainerCreating', 'PodInitializing']

interface Pulls {
  /** Names of the images that nodes pull now. */
  running: string[]
  /** Containers whose images had to be pulled, and whose pull is over. */
  ended: string[]
  /** Whether one of these pulls has failed. The node tries it again. */
  hasFailed: boolean
}

/** Pulls of the images of pods. The events of a container say when its pull begins and ends; its state, that an event was lost. */
export function listPulls(pods: readonly ClusterObject[], events: readonly ClusterObject[]): Pulls {
  const pulls: Pulls = { running: [], ended: [], hasFailed: false }
  for (const pod of pods) {
    if (pod.deletedAt) continue
    const status = readPod(pod)
    const own = listPodEvents(pod, events)
    for (const { message, ...begin } of own.filter(({ reason }) => reason === 'Pulling')) {
      const container = getContainer(begin)
      const has = (reason: string) => own.some((event) => event.reason === reason && getContainer(event) === container)
      const states = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
      const state = states.find(({ name }) => name === container)?.state
      const waits = !state || (state.waiting !== undefined && beforeStart.includes(state.waiting.reason))
      if (has('Failed') && !has('Pulled')) pulls.hasFailed = true
      if (has('Pulled') || has('Failed') || !waits) pulls.ended.push(`${pod.uid}/${container}`)
      else pulls.running.push(/"([^"]+)"/.exec(message)?.[1] ?? container)
    }
  }
  return pulls
}

/** `spec.containers{web}` */
const getContainer = ({ involvedObject: { fieldPath } }: Pick<EventFields, 'involvedObject'>): string =>
  /\{(.*)\}$/.exec(fieldPath)?.[1] ?? ''
