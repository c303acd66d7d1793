import { type Body, CruxError, type ResponseInput } from '@crux/contract'
import { localPinProblem, parseImageName, parseImageTag } from '@crux/rules'
import type { Actor, Caller, TeamContext } from '../access/index.ts'
import { changeConfig, patchConfig, publishChange } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { type Browser, selectRegistryKinds } from '../registries/index.ts'
import { assertAllowed, findVersion, type VersionPath } from '../versions/index.ts'
import { imageDeleted, imagesAdded, imagesOrdered, imageTagged } from './events.ts'
import { labelPatch, withLabelRules } from './label-rules.ts'
import { fetchLabels } from './labels.ts'
import * as store from './store.ts'

export async function listImages(app: App, { team }: Caller, path: VersionPath): Promise<ResponseInput<'images.list'>> {
  const version = await findVersion(app.database.pool, team, path)
  return store.selectImages(app.database.pool, version.id)
}

/** @throws CruxError notFound */
export async function getImage(app: App, { team }: Caller, path: VersionPath, imageId: string): Promise<store.Image> {
  const version = await findVersion(app.database.pool, team, path)
  const [image] = await store.selectImagesById(app.database.pool, version.id, [imageId])
  if (!image) throw imageNotFound(imageId)
  return image
}

/** Adds images of the team's registries, with an empty instance in every deployment of the version. */
export async function addImages(
  app: App,
  browser: Browser,
  caller: { team: TeamContext; actor: Actor },
  path: VersionPath,
  wanted: Body<'images.create'>,
): Promise<store.Image[]> {
  const { team, actor } = caller
  assertAllowed(await findVersion(app.database.pool, team, path), 'edit-images', 'versionId')
  const images = await readNames(app, team, wanted)
  const labels = await fetchLabels(app, browser, team, images)
  const ids = await inTransaction(app.database, async (queries) => {
    const version = await findVersion(queries, team, path, true)
    assertAllowed(version, 'edit-images', 'versionId')
    const rows = images.map((image, index) => {
      const found = labels[index] ?? {}
      return { ...image, labels: found, fields: withLabelRules({}, found) }
    })
    return store.insertImages(queries, version.id, rows, actor.id)
  })
  imagesAdded(app, path.versionId, ids)
  return store.selectImagesById(app.database.pool, path.versionId, ids)
}

export async function changeImage(
  app: App,
  browser: Browser,
  caller: { team: TeamContext; actor: Actor },
  path: VersionPath,
  imageId: string,
  body: Body<'images.update'>,
): Promise<void> {
  const image = await requireImage(app.database.pool, caller.team, path, imageId)
  if (body.config) await patchConfig(app, caller, image.configId, { config: body.config, typing: body.typing })
  if (body.tag) await setTag(app, browser, caller, path, imageId, body.tag)
}

/**
 * Accepts a tag even if its labels cannot be fetched, because the start checks whether it exists. Settings that its
 * labels require and the configuration lacks are added.
 */
export async function setTag(
  app: App,
  browser: Browser,
  caller: { team: TeamContext; actor: Actor },
  path: VersionPath,
  imageId: string,
  tag: string,
  origin?: string,
): Promise<void> {
  const { team, actor } = caller
  const image = await requireImage(app.database.pool, team, path, imageId)
  assertAllowed(await findVersion(app.database.pool, team, path), 'edit-images', 'versionId')
  await refuseLocalPin(app, team, image.registryId, tag)
  const [labels] = await fetchLabels(app, browser, team, [{ ...image, tag }])
  const outcome = await inTransaction(app.database, async (queries) => {
    assertAllowed(await findVersion(queries, team, path, true), 'edit-images', 'versionId')
    const changed = await changeConfig(queries, caller, image.configId, (before) => ({
      config: labelPatch(before, labels),
    }))
    await store.updateTag(queries, imageId, { tag, labels, by: actor.id })
    return changed
  })
  publishChange(app, outcome)
  imageTagged(app, path.versionId, imageId, tag, origin)
}

export async function removeImage(app: App, { team }: Caller, path: VersionPath, imageId: string): Promise<void> {
  const instances = await inTransaction(app.database, async (queries) => {
    assertAllowed(await findVersion(queries, team, path, true), 'edit-images', 'versionId')
    await requireImage(queries, team, path, imageId)
    const dropped = await store.selectInstances(queries, imageId)
    await store.deleteImage(queries, imageId)
    return dropped
  })
  imageDeleted(app, path.versionId, imageId, instances)
}

/** Requires all images of the version, each once. */
export async function orderImages(
  app: App,
  { team, actor }: { team: TeamContext; actor: Actor },
  path: VersionPath,
  ids: readonly string[],
  origin?: string,
): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    assertAllowed(await findVersion(queries, team, path, true), 'edit-images', 'versionId')
    const known = new Set(await store.selectImageIds(queries, path.versionId))
    const given = new Set(ids)
    const foreign = ids.find((id) => !known.has(id))
    if (foreign) throw imageNotFound(foreign)
    if (given.size < ids.length)
      throw new CruxError('alreadyExists', { property: 'body', description: 'The order names an image twice.' })
    if (given.size < known.size)
      throw new CruxError('invalidArgument', {
        property: 'imageIds',
        description: 'The order has to name all images of the version.',
      })
    await store.updateOrder(queries, path.versionId, ids, actor.id)
  })
  imagesOrdered(app, path.versionId, ids, origin)
}

async function refuseLocalPin(app: App, team: TeamContext, registryId: string, tag: string): Promise<void> {
  if (!parseImageTag(tag).digest) return
  const kinds = await selectRegistryKinds(app.database.pool, team.id, [registryId])
  if (kinds.get(registryId)?.local)
    throw new CruxError('invalidArgument', { property: 'tag', value: tag, description: `${localPinProblem}.` })
}

async function requireImage(queries: Queries, team: TeamContext, path: VersionPath, imageId: string) {
  const version = await findVersion(queries, team, path)
  const image = await store.selectImageNames(queries, version.id, imageId)
  if (!image) throw imageNotFound(imageId)
  return image
}

/** @throws CruxError invalidArgument with the position of the first invalid name; notFound `registryId` */
async function readNames(app: App, team: TeamContext, wanted: Body<'images.create'>) {
  const ids = wanted.map((entry) => entry.registryId)
  const kinds = await selectRegistryKinds(app.database.pool, team.id, ids)
  return wanted.flatMap(({ registryId, images }, at) => {
    const kind = kinds.get(registryId)
    if (!kind) throw new CruxError('notFound', { property: 'registryId', value: registryId })
    return images.map((text, index) => {
      const parsed = parseImageName(text, { mayNameRegistry: kind.type === 'unchecked' })
      const problem = parsed.ok
        ? kind.local && parseImageTag(parsed.image.tag).digest && localPinProblem
        : parsed.problem
      if (parsed.ok && !problem) return { registryId, ...parsed.image }
      throw new CruxError('invalidArgument', {
        property: `[${at}].images[${index}]`,
        value: text,
        description: `${problem}.`,
      })
    })
  })
}

const imageNotFound = (id: string) => new CruxError('notFound', { property: 'imageId', value: id })
