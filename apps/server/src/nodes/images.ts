import type { StoredImage } from '@crux/agent-protocol'
import { type Answer, type Body, CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { TeamContext } from '../http/handlers.ts'
import { requireNode } from './actions.ts'
import { type KnownImage, knownImages } from './known-images.ts'
import { storedImages } from './stored-images.ts'

type NodeImage = Answer<'nodes.images'>['images'][number]

/** An engine frees some gigabytes a second at best, and a store may be large. */
const removeTimeoutMs = 120_000

/** What the node's store holds and who wants it, the largest first. @throws CruxError as of every question to an agent */
export async function listNodeImages(app: App, team: TeamContext, nodeId: string): Promise<Answer<'nodes.images'>> {
  await requireNode(app, team, nodeId)
  const images = await judgedImages(app, nodeId)
  const unneeded = images.filter(({ state }) => state === 'unneeded')
  return { images, reclaimableBytes: unneeded.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) }
}

/** Removes what was chosen, as far as nobody needs it by now; the agent looks at its containers once more. */
export async function pruneNodeImages(
  app: App,
  team: TeamContext,
  nodeId: string,
  { imageIds }: Body<'nodes.prune-images'>,
): Promise<Answer<'nodes.prune-images'>> {
  await requireNode(app, team, nodeId)
  const images = new Map((await judgedImages(app, nodeId)).map((image) => [image.id, image]))
  const chosen = [...new Set(imageIds)].map((id) => ({ id, reason: reasonToKeep(images.get(id)) }))
  const kept = chosen.flatMap(({ id, reason }) => (reason ? [{ id, reason }] : []))
  const going = chosen.flatMap(({ id, reason }) => (reason ? [] : [id]))
  if (going.length === 0) return { removed: [], freedBytes: 0, kept }
  const answer = await app.links.request(nodeId, { case: 'removeImages', value: { imageIds: going } }, removeTimeoutMs)
  if (answer.case !== 'removedImages') throw new CruxError('internalError')
  const { imageIds: removed, freedBytes, kept: refused } = answer.value
  return {
    removed,
    freedBytes: Number(freedBytes),
    kept: [...kept, ...refused.map(({ imageId, reason }) => ({ id: imageId, reason }))],
  }
}

function reasonToKeep(image: NodeImage | undefined): string | undefined {
  if (!image) return 'It is not on the node any more'
  if (image.state === 'foreign') return 'It was not brought by Crux'
  if (image.state === 'unneeded') return undefined
  return `${image.neededBy ?? 'Somebody'} needs it`
}

async function judgedImages(app: App, nodeId: string): Promise<NodeImage[]> {
  const [stored, known] = await Promise.all([storedImages(app, nodeId), knownImages(app.database.pool, nodeId)])
  const byName = new Map<string, KnownImage[]>()
  for (const one of known) for (const name of namesOf(one)) byName.set(name, [...(byName.get(name) ?? []), one])
  return stored
    .map((image) => judge(image, byName))
    .sort((a, b) => b.sizeBytes - a.sizeBytes || a.id.localeCompare(b.id))
}

function judge(image: StoredImage, known: ReadonlyMap<string, readonly KnownImage[]>): NodeImage {
  const names = image.references.map(fullName)
  const users = [image.id, ...names].flatMap((name) => known.get(name) ?? [])
  const user = users.find(({ needed }) => needed)
  const [state, neededBy] =
    image.containers.length > 0
      ? (['running', image.containers.join(', ')] as const)
      : user
        ? (['needed', user.by] as const)
        : // Releases are forgotten with their deployment; what they fetched the agent remembers.
          ([image.fetched ? 'unneeded' : 'foreign', null] as const)
  return {
    id: image.id,
    references: image.references,
    sizeBytes: Number(image.sizeBytes),
    createdAt: dateOf(image),
    state,
    neededBy,
  }
}

/** A reproducible build writes the beginning of time, or nothing: no date at all. */
function dateOf({ createdAt }: StoredImage): string | null {
  const seconds = Number(createdAt?.seconds ?? 0)
  return seconds > 0 ? new Date(seconds * 1_000).toISOString() : null
}

/** By what an image of the store is recognised: the digest where a release has found it out, its tag before and without one. */
function namesOf({ name, tag, digest }: KnownImage): string[] {
  if (digest) return [digest, fullName(`${repositoryOf(name)}@${digest}`)]
  return [fullName(tag ? `${name}:${tag}` : name)]
}

const repositoryOf = (name: string) => name.replace(/@.*$/, '').replace(/:[^/:]*$/, '')

/** As the engine would write it out: without Docker Hub's address, and with a tag. */
function fullName(reference: string): string {
  const short = reference.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '')
  return /[:@][^/]*$/.test(short) ? short : `${short}:latest`
}
