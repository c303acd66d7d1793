import type { StoredImage } from '@crux/agent-protocol'
import type { App } from '../context.ts'
import { unusableAnswer } from '../gateway/agent-answers.ts'
import { engineScope } from './engine-scope.ts'

/** The store of a node is read in less than a second; what waits longer is a page that does not load. */
const listTimeoutMs = 10_000

/**
 * What the engine's store of a node holds.
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
