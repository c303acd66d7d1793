import type Docker from 'dockerode'
import { EngineError } from '../../../errors.ts'
import type { ImageMetadata, StoredImage } from '../containers/container-engine.ts'
import { translating, translatingIfThere } from './errors.ts'

export async function findImage(docker: Docker, reference: string): Promise<ImageMetadata | undefined> {
  const info = await translatingIfThere(`inspect the image ${reference}`, () => docker.getImage(reference).inspect())
  if (!info) return undefined
  const healthCheck = info.Config.Healthcheck?.Test
  return {
    id: info.Id,
    repoDigests: info.RepoDigests ?? [],
    volumes: Object.keys(info.Config.Volumes ?? {}),
    hasHealthCheck: healthCheck !== undefined && healthCheck[0] !== 'NONE' && healthCheck.length > 0,
    labels: info.Config.Labels ?? {},
  }
}

export async function listImages(docker: Docker): Promise<StoredImage[]> {
  const [images, containers] = await translating('list the images', () =>
    Promise.all([docker.listImages(), docker.listContainers({ all: true })]),
  )
  return images.map(({ Id, RepoTags, RepoDigests, Size, Created }) => ({
    id: Id,
    references: [...named(RepoTags), ...named(RepoDigests)],
    sizeBytes: Size,
    createdAt: new Date(Created * 1_000),
    containers: containers
      .filter(({ ImageID }) => ImageID === Id)
      .map(({ Id: id, Names, Labels, Image }) => ({
        name: (Names[0] ?? id).replace(/^\//, ''),
        labels: Labels ?? {},
        image: Image,
      })),
  }))
}

/**
 * Never removes with force, because that would remove the image of a stopped container. Without force the engine refuses an id that has
 * several names, so they are removed one by one; the last removal deletes the image, and is refused when a container uses it by then.
 */
export async function removeImage(docker: Docker, id: string): Promise<void> {
  const shown = id.slice(0, 19)
  const users = await translating(`list the containers of the image ${shown}`, () =>
    docker.listContainers({ all: true, filters: { ancestor: [id] } }),
  )
  const user = users.find(({ ImageID }) => ImageID === id)
  if (user) throw new EngineError('conflict', `The container ${(user.Names[0] ?? user.Id).replace(/^\//, '')} has it`)
  for (let attempts = 0; attempts < removalsMax; attempts++) {
    const info = await translatingIfThere(`inspect the image ${shown}`, () => docker.getImage(id).inspect())
    if (!info) return
    const reference = named(info.RepoTags)[0] ?? named(info.RepoDigests)[0] ?? id
    await translatingIfThere(`remove the image ${reference}`, () => docker.getImage(reference).remove())
  }
  throw new EngineError('conflict', `The image ${shown} gets new names as fast as they are removed`)
}

/** Names of one image; a larger number does not occur in practice. */
const removalsMax = 100

/** The engine writes "<none>:<none>" for no name. */
function named(references: readonly string[] | null | undefined): string[] {
  return (references ?? []).filter((reference) => !reference.startsWith('<none>'))
}
