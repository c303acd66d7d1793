import { z } from 'zod'
import {
  containerStates,
  deploymentEventTypes,
  deploymentPhases,
  deploymentStatuses,
  logLevels,
  phaseStates,
} from './enums.ts'
import { Timestamp } from './shapes.ts'

export const DeploymentEvent = z.object({
  type: z.enum(deploymentEventTypes),
  createdAt: Timestamp,
  /** The number of the release and the position in it; both only increase. */
  try: z.int(),
  sequence: z.int(),
  instanceId: z.string().nullish(),
  log: z
    .object({
      log: z.array(z.string()),
      level: z.enum(logLevels),
      fromContainer: z.boolean().optional(),
      /** The previous container that is stopped with this line, before the new one of the instance starts. */
      silences: z.string().optional(),
      /** The previous container that has stopped before this line. */
      stopped: z.string().optional(),
    })
    .optional(),
  deploymentStatus: z.enum(deploymentStatuses).optional(),
  /** For a deploymentStatus: the reason, and which container answers now. */
  reason: z.string().nullish(),
  /** With a failed status: whether the previous containers run again; absent where there were none, or where it is unknown. */
  previousRestored: z.boolean().optional(),
  containerState: z
    .object({ instanceId: z.string(), state: z.enum(containerStates).nullish(), reason: z.string().nullish() })
    .optional(),
  containerProgress: z
    .object({
      instanceId: z.string(),
      status: z.string(),
      progress: z.number().min(0).max(1),
      currentBytes: z.number().optional(),
      totalBytes: z.number().optional(),
    })
    .optional(),
  phase: z
    .object({
      instanceId: z.string(),
      phase: z.enum(deploymentPhases),
      state: z.enum(phaseStates),
      detail: z.string().nullish(),
    })
    .optional(),
})
export type DeploymentEvent = z.output<typeof DeploymentEvent>
