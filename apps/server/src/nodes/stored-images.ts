import type { StoredImage } from '@crux/agent-protocol'
import type { App } from '../context.ts'

/** The store of a node is read in less than a second; what waits longer is a page that does not load. */
const listTimeoutMs = 10_000

/**
 * What the engine's store of a node holds.
 *
 * @throws CruxError as `app.links.request`
 */
export async function storedImages(app: Pick<App, 'links'>, nodeId: string): Promise<StoredImage[]> {
  const answer = await app.links.request(nodeId, { case: 'listImages', value: {} }, listTimeoutMs)
  if (answer.case !== 'images') throw new Error(`the agent answered ${answer.case} where images was asked for`)
  return answer.value.images
}
