import type { StoredImage } from '@crux/agent-protocol'
import { unusableAnswer } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { engineScope } from './engine-scope-store.ts'

/** Reading the store of a node takes less than a second. A longer request would only delay the page. */
const listTimeoutMs = 10_000

/**
 * The images in the engine's store of a node.
 *
 * @throws CruxError as `app.links.request`
 */
export async function storedImages(
  app: Pick<App, 'links' | 'database'>,
  owner: { teamId: string; nodeId: string },
): Promise<StoredImage[]> {
  const scope = await engineScope(app, owner)
  const answer = await app.links.request(owner.nodeId, { case: 'listImages', value: { scope } }, listTimeoutMs)
  if (answer.case !== 'images') throw unusableAnswer()
  return answer.value.images
}
