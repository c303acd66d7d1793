import type { FinalContainerConfig } from '@crux/contract'
import { isReservedLabel, reservedLabelReason } from '@crux/rules'

type Section = 'deployment' | 'service' | 'ingress'

/**
 * Labels of a member for one kind of object.
 *
 * @throws Error with a sentence for users for a label that names the owner of an object: no role may set one
 */
export function toUserLabels({ labels }: FinalContainerConfig, section: Section): Record<string, string> {
  return toRecord(labels?.[section], `labels.${section}`)
}

/**
 * In a namespace that somebody else made, Services and network policies of others may select pods by any label: a member could take over
 * their requests. Nothing that leads requests or grants access selects Services or Ingresses by their labels, so those may have some.
 *
 * @throws Error with a sentence for users for a label of a member that pods would have
 */
export function refusePodLabels(config: FinalContainerConfig, namespace: string): void {
  const [key] = Object.keys(toUserLabels(config, 'deployment'))
  if (key !== undefined)
    throw new Error(
      `labels.deployment: the namespace ${namespace} was not made by Crux, and Services and network policies of others in it could select the pods by the label ${key}: remove these labels, or choose another prefix`,
    )
}

/** Annotations of a member for one kind of object. @throws Error with a sentence for users */
export function toUserAnnotations({ annotations }: FinalContainerConfig, section: Section): Record<string, string> {
  return toRecord(annotations?.[section], `annotations.${section}`)
}

/** Annotations for the load balancer. @throws Error with a sentence for users */
export const toBalancerAnnotations = ({ extraLBAnnotations }: FinalContainerConfig): Record<string, string> =>
  toRecord(extraLBAnnotations, 'extraLBAnnotations')

function toRecord(
  rows: readonly { key: string; value: string | null }[] | null | undefined,
  property: string,
): Record<string, string> {
  const set = (rows ?? []).flatMap(({ key, value }) => (value === null ? [] : [[key, value] as const]))
  const reserved = set.find(([key]) => isReservedLabel(key))
  if (reserved) throw new Error(`${property}: ${reservedLabelReason(reserved[0])}`)
  return Object.fromEntries(set)
}

/** The field of an object's metadata, where there is anything in it. */
export const annotated = (annotations: Readonly<Record<string, string>>) =>
  Object.keys(annotations).length > 0 ? { annotations } : {}
