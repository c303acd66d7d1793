import { createHash } from 'node:crypto'
import { type Body, type ContainerConfigFields, CruxError, type ResponseInput } from '@crux/contract'
import { canonicalJson, defaultContainerName, getRegistryReference, imageText } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import { readNewLayer } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import { lockByName } from '../db/lock-order.ts'
import type { Queries } from '../db/queries.ts'
import { addDeployment, checkPortsFree } from '../deployments/index.ts'
import { fetchLabels, withLabelRules } from '../images/index.ts'
import { createProjectWithImages } from '../imports/index.ts'
import { type Browser, createUncheckedRegistry, lockRegistries, readDigest } from '../registries/index.ts'
import { createAndStart } from '../releases/index.ts'
import { recordEvent } from '../system/index.ts'
import { findSource, type ImageSource, missingRegistry, type NamedImage, readImage } from './image-source.ts'
import { containerNameMax, findPrefixUser, findTargetNode, getShortName, proposeName } from './proposals.ts'
import { findRun, type ImageRun, insertRun } from './store.ts'

type Started = Awaited<ReturnType<typeof runImage>>

/**
 * Runs an image: creates a versionless project with it, its deployment and, for an admin, its registry, and starts the
 * deployment, all in one transaction. What needs a registry or an agent is checked before; a refusal leaves nothing.
 *
 * @throws CruxError invalidArgument `image`; forbidden or preconditionFailed `registry`; notFound `image`, `nodeId` or
 *   `registryId`; preconditionFailed `prefix` or `ports[0].external`; alreadyExists `key` for another request with this
 *   key; and as a start, with the properties of the request
 */
export async function runImage(app: App, browser: Browser, caller: Caller, body: Body<'projects.run'>) {
  const { key, ...request } = body
  const requestHash = createHash('sha256').update(canonicalJson(request)).digest('hex')
  const image = readImage(body.image)
  const earlier = await findRun(app.database.pool, caller.team.id, key)
  const prepared = earlier ? undefined : await prepareRun(app, browser, caller, body, image)
  const create = async (queries: Queries) => {
    // Of requests with the same key the second one waits here and finds what the first has created. It also keeps two
    // requests from creating the same registry or choosing the same name.
    await lockByName(queries, `run an image ${caller.team.id}`)
    const run = await findRun(queries, caller.team.id, key)
    if (run) return repeatRun(run, requestHash)
    return createRun(queries, caller, body, { image, requestHash, labels: prepared ?? {} })
  }
  const options = { ignoreProtected: false, overrideFreeze: body.overrideFreeze }
  const { created, confirmed, override } = await createAndStart(app, caller, create, options).catch(
    (error: unknown) => {
      throw toRequestError(error)
    },
  )
  if (created.starts)
    recordEvent(app, { teamId: caller.team.id, projectId: created.projectId }, 'project created to run an image')
  return { ...created, image, confirmed, override }
}

/** What is written into the audit log. Values of the environment are not, because they may be credentials. */
export const toAuditData = (body: Body<'projects.run'>, started: Started) => ({
  params: {
    projectId: started.projectId,
    versionId: started.versionId,
    deploymentId: started.deploymentId,
  },
  image: imageText({ name: started.image.fullName, tag: started.image.tag }),
  nodeId: body.nodeId,
  prefix: body.prefix,
  ports: body.ports,
  environment: (body.environment ?? []).map((row) => row.key),
  ...('createdRegistry' in started && { createdRegistry: started.createdRegistry }),
  ...(!started.starts && { repeated: true }),
  ...(started.confirmed.length > 0 && { confirmed: started.confirmed }),
  ...started.override,
})

export const toAnswer = ({ projectId, versionId, deploymentId }: Started): ResponseInput<'projects.run'> => ({
  projectId,
  versionId,
  deploymentId,
})

/** Everything that a registry or an agent is asked for. @returns the labels of the image */
async function prepareRun(
  app: App,
  browser: Browser,
  caller: Caller,
  body: Body<'projects.run'>,
  image: NamedImage,
): Promise<Record<string, string>> {
  const { team } = caller
  const { pool } = app.database
  const node = await findTargetNode(pool, team.id, body.nodeId)
  const source = await findSource(pool, team.id, image, toGiven(body))
  const { registry, imageName } = source
  const target = { teamId: team.id, node, prefix: body.prefix }
  const [exists, [labels]] = await Promise.all([
    checkExists(app, team, source, image.tag),
    registry ? fetchLabels(app, browser, team, [{ registryId: registry.id, name: imageName, tag: image.tag }]) : [],
    checkPortsFree(app, target, { ports: body.ports }),
  ])
  if (exists === false)
    throw new CruxError('notFound', {
      property: 'image',
      value: body.image,
      description: `${registry?.name ?? image.host} has no image ${imageText({ name: image.fullName, tag: image.tag })}. Check the name and the tag.`,
    })
  return labels ?? {}
}

/** Requested again: the result that the dialog got some seconds ago may be outdated. Undefined where it cannot be known. */
async function checkExists(
  app: App,
  team: Caller['team'],
  { registry, imageName }: ImageSource,
  tag: string,
): Promise<boolean | undefined> {
  if (!registry || registry.type === 'unchecked') return undefined
  try {
    return (await readDigest(app, team, registry.id, imageName, getRegistryReference(tag))) !== undefined
  } catch (error) {
    // The agent may reach a registry that the server does not, and reports what it finds.
    if (error instanceof CruxError) return undefined
    throw error
  }
}

async function createRun(
  queries: Queries,
  caller: Caller,
  body: Body<'projects.run'>,
  { image, requestHash, labels }: { image: NamedImage; requestHash: string; labels: Record<string, string> },
) {
  const { team } = caller
  const { nodeId, prefix } = body
  const usedBy = await findPrefixUser(queries, { teamId: team.id, nodeId, prefix })
  if (usedBy !== null)
    throw new CruxError('preconditionFailed', {
      property: 'prefix',
      value: prefix,
      description: `${usedBy} uses the prefix ${prefix} on this node. Choose another prefix.`,
    })
  if (body.createRegistry) await lockRegistries(queries, team.id)
  const source = await findSource(queries, team.id, image, toGiven(body))
  if (!source.registry && !body.createRegistry) throw missingRegistry(caller, image.host)
  const registry = source.registry ?? (await createUncheckedRegistry(queries, caller, image.host))
  const name = body.name ?? (await proposeName(queries, team.id, image.fullName))
  const fields = withLabelRules(readConfig(body, source.imageName), labels)
  const { projectId, versionId } = await createProjectWithImages(queries, caller, {
    project: { name, type: 'versionless' },
    images: [{ registryId: registry.id, name: source.imageName, tag: image.tag, labels, fields }],
  })
  const { id: deploymentId } = await addDeployment(queries, caller, { versionId, nodeId, prefix, protected: false })
  const run = { requestHash, projectId, versionId, deploymentId }
  await insertRun(queries, team.id, body.key, run)
  return {
    ...run,
    starts: true,
    ...(!source.registry && { createdRegistry: { id: registry.id, name: registry.name } }),
  }
}

function repeatRun(run: ImageRun, requestHash: string) {
  if (run.requestHash !== requestHash)
    throw new CruxError('alreadyExists', {
      property: 'key',
      description: 'This key has run another image already. Send each request with a key of its own.',
    })
  return { ...run, starts: false }
}

/** The layer of the image. What only an admin may set is refused by the start, which judges the merged configuration. */
function readConfig({ ports, environment }: Body<'projects.run'>, imageName: string): ContainerConfigFields {
  const isLong = defaultContainerName(imageName).length > containerNameMax
  const { fields, problems } = readNewLayer({
    ...(isLong && { name: getShortName(imageName) }),
    ...(ports.length > 0 && { ports }),
    ...(environment && environment.length > 0 && { environment }),
  })
  const [first] = problems
  if (first)
    throw new CruxError('invalidArgument', {
      property: first.property,
      description: first.description,
      details: problems,
    })
  return fields
}

const toGiven = ({ registryId, image }: Body<'projects.run'>) => (registryId ? { registryId, text: image } : undefined)

/** A start names settings of an instance, which the request has at its top: `instances[0].config.ports[0].external`. */
function toRequestError(error: unknown): unknown {
  if (!(error instanceof CruxError)) return error
  const strip = (property: string) => property.replace(/^instances\[0\]\.config\./, '')
  const { property, value, message: description, details, retryAfterS } = error
  if (property === undefined || strip(property) === property) return error
  return new CruxError(error.code, {
    property: strip(property),
    value,
    description,
    ...(details && { details: details.map((one) => ({ ...one, property: strip(one.property) })) }),
    ...(retryAfterS !== undefined && { retryAfterS }),
    cause: error,
  })
}
