import { z } from 'zod'
import { Id } from './shapes.ts'

/** How the last release of a deployment ended or how far it is, as its row in a list says it. */
export const LastRelease = z.object({
  /** What the last release came to, in words: "port 8443 is taken by nginx", "4 images, 6.1 s", "replaced by 2.14.0". */
  outcome: z.string().nullish(),
  /** Verified and all instances of the release under way. */
  progress: z.object({ done: z.int(), total: z.int() }).nullish(),
  /** Place in the line for its node and prefix, from 1, while the start waits for another one (decision 28). */
  queuePosition: z.int().nullish(),
  /** The release under way that the whole line waits for; there whenever `queuePosition` is. */
  queuedBehind: z
    .object({ deploymentId: Id, number: z.int(), projectName: z.string(), versionName: z.string() })
    .nullish(),
})
export type LastRelease = z.output<typeof LastRelease>
