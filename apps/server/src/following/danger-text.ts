import type { FinalContainerConfig } from '@crux/contract'
import { nodeDangers } from '@crux/rules'

/** Why an instance must not be deployed without a person; undefined where nothing reaches the node. */
export function dangerText(config: FinalContainerConfig, node: Parameters<typeof nodeDangers>[1]): string | undefined {
  const [danger] = nodeDangers(config, node)
  return danger && `${config.name} reaches the node itself: ${danger.reason}.`
}

export const dangerProblem = (danger: string) =>
  `${danger} It was changed from Deploy to Notify: an admin of the team can deploy it.`
