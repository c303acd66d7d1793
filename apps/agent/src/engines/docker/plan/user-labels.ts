import type { FinalContainerConfig } from '@crux/contract'
import { isObeyedLabel, isReservedLabel, labelDangers, reservedLabelReason } from '@crux/rules'

type Labelled = Pick<FinalContainerConfig, 'dockerLabels' | 'environment' | 'secrets'>

/** The labels of a configuration. @throws Error with a sentence for users for one that the release may not set */
export function userLabels(config: Labelled, options: { hostDangerousAllowed: boolean }): Record<string, string> {
  const reserved = config.dockerLabels.find(({ key }) => isReservedLabel(key))
  if (reserved) throw new Error(reservedLabelReason(reserved.key))
  const [danger] = options.hostDangerousAllowed ? [] : labelDangers(config)
  if (danger) throw new Error(`${danger.reason}: that needs an admin's permission for host-dangerous options`)
  return Object.fromEntries(config.dockerLabels.map(({ key, value }) => [key, value]))
}

/**
 * A container has the labels of its image too, and the engine can only overwrite them. Labels of an image that concern Crux, or
 * other software on the node, are emptied, because no user allowed them.
 */
export function emptiedImageLabels(ofImage: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.keys(ofImage)
      .filter((key) => isReservedLabel(key) || isObeyedLabel(key))
      .map((key) => [key, '']),
  )
}
