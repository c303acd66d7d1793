import { readFile } from 'node:fs/promises'
import type Docker from 'dockerode'
import { EngineError } from '../../../errors.ts'
import type { AgentContainers } from '../../engine.ts'
import { label } from '../../labels.ts'
import { loadImage, pullImage, removeAgentImage } from './agent-images.ts'
import { openDocker } from './client.ts'
import { cloneOptions } from './clone-options.ts'
import { translating, translatingIfThere } from './errors.ts'
import { idFrom } from './own-container.ts'
import { describeSuccessorFailure } from './successor-failure.ts'

/** What the name of the old agent's container ends with during an update. */
const suffix = '-update'

/**
 * Finds the container of this process by the id in its mount table, never by a name or label, which others can choose.
 *
 * @returns undefined for a process outside of a container, or in a container of another engine
 * @throws EngineError `unavailable` while the engine does not answer
 */
export async function openAgentContainers(dockerHost: string): Promise<AgentContainers | undefined> {
  const id = idFrom(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''))
  if (!id) return undefined
  const { docker, close } = await translating('say its version', () => openDocker(dockerHost))
  const own = await inspectIfThere(docker, id)
  if (own?.Id !== id) {
    close()
    return undefined
  }
  return createAgentContainers(docker, own, close)
}

function createAgentContainers(docker: Docker, own: Docker.ContainerInspectInfo, close: () => void): AgentContainers {
  const findSuccessor = async (updateId: string, name: string) => {
    const found = await inspectIfThere(docker, name)
    return found && found.Id !== own.Id && found.Config.Labels?.[label.update] === updateId ? found : undefined
  }
  return {
    own: { id: own.Id, name: own.Name.replace(/^\//, ''), imageId: own.Image },
    pullImage: (reference) => pullImage(docker, reference),
    loadImage: (content) => loadImage(docker, content),
    async startSuccessor({ updateId, name, image }) {
      const [now, oldImage] = await translating('inspect the container of the agent', () =>
        Promise.all([docker.getContainer(own.Id).inspect(), docker.getImage(own.Image).inspect()]),
      )
      await giveWay(docker, own.Id, name)
      const options = cloneOptions(now, oldImage.Config, { name, image, updateId })
      const created = await translating('create the container of the new agent', () => docker.createContainer(options))
      await translating('start the container of the new agent', () => created.start())
    },
    async findSuccessorFailure(updateId, name) {
      const found = await findSuccessor(updateId, name)
      return found ? describeSuccessorFailure(found) : 'The container of the new agent was removed.'
    },
    async removeSuccessor(updateId, name) {
      const found = await findSuccessor(updateId, name)
      if (found) await removeContainer(docker, found.Id)
    },
    async restoreName(name) {
      const now = await translating('inspect the container', () => docker.getContainer(own.Id).inspect())
      if (now.Name === `/${name}`) return
      await translating(`rename the container to ${name}`, () => docker.getContainer(own.Id).rename({ name }))
    },
    async isRunning(id) {
      const { Running, Restarting } = (await inspectIfThere(docker, id))?.State ?? {}
      return Running === true || Restarting === true
    },
    async removePrevious(id) {
      const found = await inspectIfThere(docker, id)
      if (!found || found.Id === own.Id) return undefined
      // Whatever wrote the id: only a container that is an agent of this data directory is removed.
      const isAgent = found.Config.Labels?.[label.serviceCategory] === '_internal'
      if (!isAgent || !sharesDirectory(found, own)) return undefined
      await removeContainer(docker, found.Id)
      if (found.Image === own.Image) return undefined
      return removeAgentImage(docker, found.Image, found.Config.Labels[label.agentImage] ?? found.Config.Image)
    },
    close,
  }
}

const inspectIfThere = (docker: Docker, id: string): Promise<Docker.ContainerInspectInfo | undefined> =>
  translatingIfThere('inspect the container', () => docker.getContainer(id).inspect())

const removeContainer = (docker: Docker, id: string) =>
  translatingIfThere('remove the container', () => docker.getContainer(id).remove({ force: true }))

/** Another container may have the first name: a previous update may have left its own. */
async function giveWay(docker: Docker, id: string, name: string): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const free = `${name}${suffix}${attempt === 0 ? '' : attempt}`
    if (await inspectIfThere(docker, free)) continue
    await translating(`rename the container to ${free}`, () => docker.getContainer(id).rename({ name: free }))
    return
  }
  throw new EngineError('conflict', `There are ${attemptsMax} containers named ${name}${suffix}: remove them`)
}
const attemptsMax = 10

function sharesDirectory(left: Docker.ContainerInspectInfo, right: Docker.ContainerInspectInfo): boolean {
  const sources = new Set(
    right.Mounts.filter(({ RW }) => RW).map(({ Source, Destination }) => `${Source}:${Destination}`),
  )
  return left.Mounts.some(({ RW, Source, Destination }) => RW && sources.has(`${Source}:${Destination}`))
}
