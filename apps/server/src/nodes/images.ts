import type { StoredImage } from '@crux/agent-protocol'
import type { Body, ResponseInput, TeamRole } from '@crux/contract'
import { visibilityFor } from '@crux/rules'
import type { Caller, TeamContext } from '../access/index.ts'
import { unusableAnswer } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { requireNode, requireNodeForCommand } from './actions.ts'
import { engineScope } from './engine-scope-store.ts'
import { type KnownImage, neededImages, usedImages } from './known-image-store.ts'

type NodeImage = ResponseInput<'nodes.images'>['images'][number]

/** Reading the store of a node takes less than a second. A longer request would only delay the page. */
const listTimeoutMs = 10_000
/** An engine frees some gigabytes a second at best, and a store may be large. */
const removeTimeoutMs = 120_000

/**
 * The images of the node's store that the caller may see and what needs each, the largest first. @throws CruxError as
 * every request to an agent
 */
export async function listNodeImages(
  app: App,
  { team }: Caller,
  nodeId: string,
): Promise<ResponseInput<'nodes.images'>> {
  await requireNode(app, team, nodeId)
  const images = (await judgedImages(app, team, nodeId)).flatMap(({ owned, image }) => {
    const visibility = visibilityFor(team.role, { owned })
    if (visibility === 'hidden') return []
    return visibility === 'full' ? [image] : [toOutline(image)]
  })
  const unneeded = images.filter(({ state }) => state === 'unneeded')
  return { images, reclaimableBytes: unneeded.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) }
}

/** Removes the chosen images that nothing needs now; the agent checks its containers again. */
export async function pruneNodeImages(
  app: App,
  { team }: Caller,
  nodeId: string,
  { imageIds }: Body<'nodes.prune-images'>,
): Promise<ResponseInput<'nodes.prune-images'>> {
  await requireNodeForCommand(app, team, nodeId)
  const images = new Map((await judgedImages(app, team, nodeId)).map(({ image }) => [image.id, image]))
  const chosen = [...new Set(imageIds)].map((id) => ({ id, reason: reasonToKeep(images.get(id)) }))
  const kept = chosen.flatMap(({ id, reason }) => (reason ? [{ id, reason }] : []))
  const going = chosen.flatMap(({ id, reason }) => (reason ? [] : [id]))
  if (going.length === 0) return { removed: [], freedBytes: 0, kept }
  const answer = await app.links.request(nodeId, { case: 'removeImages', value: { imageIds: going } }, removeTimeoutMs)
  if (answer.case !== 'removedImages') throw unusableAnswer()
  const { imageIds: removed, freedBytes, kept: refused } = answer.value
  return {
    removed,
    freedBytes: Number(freedBytes),
    kept: [...kept, ...refused.map(({ imageId, reason }) => ({ id: imageId, reason }))],
  }
}

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

function reasonToKeep(image: NodeImage | undefined): string | undefined {
  if (!image) return 'It is not on the node any more'
  if (image.state === 'foreign') return 'It was not brought by Crux'
  if (image.state === 'unneeded') return undefined
  return `${image.neededBy ?? 'Something else'} needs it`
}

/** `owned`: this team's agent fetched it, a container of the team was made from it, or a release of the node names its digest. */
type Judged = { owned: boolean; image: NodeImage }

async function judgedImages(app: App, team: TeamContext, nodeId: string): Promise<Judged[]> {
  const { pool } = app.database
  const [stored, needed] = await Promise.all([
    storedImages(app, { teamId: team.id, nodeId }),
    neededImages(pool, nodeId),
  ])
  const used = await usedImages(pool, nodeId, stored.flatMap(listDigests))
  const byName = new Map<string, KnownImage[]>()
  for (const one of [...needed, ...used])
    for (const name of listNames(one)) byName.set(name, [...(byName.get(name) ?? []), one])
  return stored
    .map((image) => judge(image, byName, team.role))
    .sort((a, b) => b.image.sizeBytes - a.image.sizeBytes || a.image.id.localeCompare(b.image.id))
}

function judge(stored: StoredImage, known: ReadonlyMap<string, readonly KnownImage[]>, role: TeamRole): Judged {
  const names = new Map(stored.references.map((reference) => [reference, fullName(reference)]))
  const users = [stored.id, ...names.values()].flatMap((name) => known.get(name) ?? [])
  // A tag alone proves nothing: anyone may have given it to an image on a shared engine.
  const isRecorded = users.some(({ digest }) => digest !== null)
  const isOurs = stored.fetched || stored.containers.length > 0
  const references =
    isOurs || !isRecorded ? stored.references : stored.references.filter((name) => known.has(names.get(name) ?? ''))
  const [state, neededBy] = getNeed(stored, users, role)
  return {
    owned: isOurs || isRecorded,
    image: {
      id: stored.id,
      references,
      sizeBytes: Number(stored.sizeBytes),
      createdAt: toDate(stored),
      state,
      neededBy,
    },
  }
}

function getNeed(
  stored: StoredImage,
  users: readonly KnownImage[],
  role: TeamRole,
): [state: NodeImage['state'], neededBy: string | null] {
  if (stored.containers.length > 0) return ['running', stored.containers.join(', ')]
  const user = users.find(({ neededBy }) => neededBy !== null)
  if (user) return ['needed', user.neededBy]
  // Releases are deleted with their deployment, but the agent keeps a record of what they fetched.
  if (!stored.fetched) return ['foreign', null]
  if (stored.usedByOthers && visibilityFor(role, { owned: false }) !== 'hidden')
    return ['needed', "A container that is not this team's"]
  return ['unneeded', null]
}

/** Names, size and the team's own releases only; without an id no further request about the image is possible. */
function toOutline(image: NodeImage): NodeImage {
  return { ...image, id: '', createdAt: null }
}

/** A reproducible build writes the Unix epoch, or nothing: both count as no date. */
function toDate({ createdAt }: StoredImage): string | null {
  const seconds = Number(createdAt?.seconds ?? 0)
  return seconds > 0 ? new Date(seconds * 1_000).toISOString() : null
}

/** The image's own id, which is a digest too, and the digests of the registries that it came from. */
const listDigests = ({ id, references }: StoredImage): string[] => [
  id,
  ...references.flatMap((reference) => /@(.+)$/.exec(reference)?.[1] ?? []),
]

/** The names that identify an image of the store: the digest where a release has resolved it, otherwise the tag. */
function listNames({ name, tag, digest }: KnownImage): string[] {
  if (digest) return [digest, fullName(`${toRepository(name)}@${digest}`)]
  return [fullName(tag ? `${name}:${tag}` : name)]
}

const toRepository = (name: string) => name.replace(/@.*$/, '').replace(/:[^/:]*$/, '')

/** The full reference as the engine writes it: without Docker Hub's address, and with a tag. */
function fullName(reference: string): string {
  const short = reference.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '')
  return /[:@][^/]*$/.test(short) ? short : `${short}:latest`
}
