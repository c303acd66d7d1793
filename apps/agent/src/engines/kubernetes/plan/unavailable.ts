import type { FinalContainerConfig } from '@crux/contract'
import { kubernetesDangers, kubernetesNameProblems, kubernetesUnavailable } from '@crux/rules'
import type { ClusterSettings } from './cluster-settings.ts'

/**
 * Refuses what a cluster cannot do, or what this engine does not do yet. The server refuses it first, with the same rules.
 *
 * @throws Error with a sentence for users that names the setting
 */
export function refuseUnavailable(
  config: FinalContainerConfig,
  { hostDangerousAllowed, settings }: { hostDangerousAllowed: boolean; settings: ClusterSettings },
): void {
  const [problem] = [
    ...kubernetesUnavailable(config, { ingressClass: settings.ingress?.className ?? null }),
    ...kubernetesNameProblems(config),
  ]
  if (problem) throw new Error(`${problem.property}: ${problem.description}`)
  const [danger] = hostDangerousAllowed
    ? []
    : kubernetesDangers(config, { storageClasses: settings.storageClasses ?? [] })
  if (danger)
    throw new Error(`${danger.property}: ${danger.reason}. It needs an admin's permission for host-dangerous options`)
}
