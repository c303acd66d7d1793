import { z } from 'zod'
import { projectTypes } from './enums.ts'
import { Id } from './shapes.ts'

/** The outcome or progress of the last release of a deployment, for its row in a list. */
export const LastRelease = z.object({
  /** The outcome of the last release as a text: "port 8443 is taken by nginx", "4 images, 6.1 s", "replaced by 2.14.0". */
  outcome: z.string().nullish(),
  /** The number of verified instances and of all instances of the release in progress. */
  progress: z.object({ done: z.int(), total: z.int() }).nullish(),
  /** The position in the queue for its node and prefix, from 1, while the start waits for another one. */
  queuePosition: z.int().nullish(),
  /** The release in progress that the whole queue waits for; present whenever `queuePosition` is. */
  queuedBehind: z
    .object({
      deploymentId: Id,
      number: z.int(),
      projectName: z.string(),
      /** Null when the project was deleted. */
      projectType: z.enum(projectTypes).nullable(),
      versionName: z.string(),
    })
    .nullish(),
})
export type LastRelease = z.output<typeof LastRelease>
