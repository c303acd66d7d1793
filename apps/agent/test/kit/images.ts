import { createReadStream } from 'node:fs'
import Docker from 'dockerode'

/** `web` is what these tests call an instance. */
export { web as webImage } from '@crux/test-kit'

export const openEngine = () => new Docker({ socketPath: '/var/run/docker.sock' })

export async function removeImages(docker: Docker, namePart: string): Promise<void> {
  for (const image of await docker.listImages()) {
    const names = [...(image.RepoTags ?? []), ...(image.RepoDigests ?? [])].filter((name) => name.includes(namePart))
    for (const name of names)
      await docker
        .getImage(name)
        .remove({ force: true })
        .catch(() => undefined)
  }
}

export async function pullImage(docker: Docker, reference: string): Promise<void> {
  const stream = await docker.pull(reference)
  await new Promise<void>((resolve, reject) =>
    docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve())),
  )
}

/** Loads an archive as `docker load` does. */
export async function loadArchive(docker: Docker, path: string): Promise<void> {
  const stream = await docker.loadImage(createReadStream(path))
  await new Promise<void>((resolve, reject) =>
    docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve())),
  )
}
