import type { App } from '../context.ts'
import { storedImages } from '../nodes/index.ts'
import { selectRegistryKinds } from '../registries/index.ts'
import type { LoadedDeployment } from '../releases/index.ts'
import type { Next } from './next-release.ts'

type Missing = { property: string; description: string }

/**
 * Resources of a start that no longer exist: images that were pruned on the node, and registries that were deleted with
 * their credentials. Whether the registry still has an image is known only when the agent requests it.
 */
export async function missingImages(
  app: App,
  { node, teamId }: LoadedDeployment,
  next: readonly Next[],
): Promise<Map<string, Missing[]>> {
  // A tag is resolved and pulled again; an image by digest, or without a registry, must exist on the node.
  const asked = next.filter(({ digest, localOnly }) => localOnly || digest)
  if (asked.length === 0) return new Map()
  const [stored, registries] = await Promise.all([
    // The machines of a cluster manage their images themselves, and the agent does not see them.
    node.type === 'docker' && app.links.status(node.id) === 'connected'
      ? storedImages(app, { teamId, nodeId: node.id }).catch(() => undefined)
      : undefined,
    selectRegistryKinds(
      app.database.pool,
      teamId,
      asked.flatMap(({ registryId }) => registryId ?? []),
    ),
  ])
  // Images of others on a shared engine do not count for this team, because the agent does not run them.
  const usable = stored?.filter(({ fetched, local, containers }) => fetched || local || containers.length > 0)
  const there = usable && new Set(usable.flatMap(({ id, references }) => [id, ...references]))
  return new Map(
    asked.map((one) => {
      const { imageName, imageTag, digest, localOnly, registryId } = one
      const found: Missing[] = []
      const lacks = (names: string[]) =>
        there !== undefined && !names.flatMap(spellings).some((name) => there.has(name))
      const isGone = lacks(digest ? [digest, `${imageName}@${digest}`] : [`${imageName}:${imageTag}`])
      if (isGone && localOnly)
        found.push({
          property: 'image',
          description: `${imageName}:${imageTag} is not on ${node.name}, and no registry has it: load it there first`,
        })
      // A pinned image that has not run is pulled like a tag.
      else if (isGone && one.isEarlier)
        found.push({
          property: 'image',
          description: `${imageName}:${imageTag} is not on ${node.name} any more: it will be pulled again`,
        })
      for (const [image, ran] of Object.entries(one.preparationDigests))
        if (lacks([ran, `${image.replace(/(:[^/:]*)?(@.*)?$/, '')}@${ran}`]))
          found.push({
            property: 'image',
            description: `${image} is not on ${node.name} any more: it will be pulled again`,
          })
      if (!localOnly && !(registryId && registries.has(registryId)))
        found.push({
          property: 'registry',
          description: `The registry of ${imageName} was deleted here, and its credentials with it: what needs them cannot be pulled`,
        })
      return [one.instanceId, found]
    }),
  )
}

/** The engine shows names of Docker Hub without its address. */
function spellings(name: string): string[] {
  const short = name.replace(/^docker\.io\//, '')
  return [name, short, short.replace(/^library\//, '')]
}
