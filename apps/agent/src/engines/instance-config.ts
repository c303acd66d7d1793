import type { Instance } from '@crux/agent-protocol'
import { FinalContainerConfig } from '@crux/contract'
import { hostDangers } from '@crux/rules'
import { PlanError } from '../errors.ts'

/**
 * The final configuration of an instance.
 *
 * @throws PlanError that names the field
 */
export function parseInstanceConfig(instance: Instance): FinalContainerConfig {
  let json: unknown
  try {
    json = JSON.parse(instance.configJson)
  } catch (cause) {
    throw new PlanError(instance.instanceId, 'the configuration is not JSON', { cause })
  }
  const parsed = FinalContainerConfig.safeParse(json)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new PlanError(
    instance.instanceId,
    `the configuration is not valid: ${issue?.path.join('.')}: ${issue?.message}`,
  )
}

/** Uses the same rule as the server, so that no setting is host-dangerous there and accepted here. @throws Error that names the setting */
export function refuseDangerous(config: FinalContainerConfig, allowed: boolean): void {
  const [danger] = allowed ? [] : hostDangers(config)
  if (danger)
    throw new Error(`${danger.property}: ${danger.reason}. It needs an admin's permission for host-dangerous options`)
}
