import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { EngineError, getMessage } from '../../../errors.ts'
import type { AgentImage } from '../../engine.ts'
import { shortImageName } from '../../images/image-reference.ts'
import { translateRegistry, translating, translatingIfThere } from './errors.ts'
import { toLines } from './lines.ts'

/** A name without tag and digest would pull every tag. */
const withTag = (reference: string) => (/@|:[^/]*$/.test(reference) ? reference : `${reference}:latest`)

export async function pullImage(docker: Docker, reference: string): Promise<AgentImage> {
  const fromImage = withTag(reference)
  try {
    const stream = await docker.createImage({}, { fromImage })
    for await (const text of toLines(stream)) {
      const { error }: { error?: string } = JSON.parse(text)
      if (error) throw new Error(error)
    }
  } catch (error) {
    throw translateRegistry(error, reference)
  }
  return inspectImage(docker, fromImage)
}

export async function loadImage(docker: Docker, content: AsyncIterable<Uint8Array>): Promise<AgentImage> {
  const stream = await translating("load the agent's image", () => docker.loadImage(Readable.from(content)))
  let loaded: string | undefined
  for await (const text of toLines(stream)) {
    const line: { stream?: string; error?: string } = JSON.parse(text)
    if (line.error) throw new EngineError('other', `Docker could not load the agent's image (Docker: ${line.error})`)
    loaded = /^Loaded image(?: ID)?: *(\S+)/.exec(line.stream ?? '')?.[1] ?? loaded
  }
  const reference = loaded
  if (!reference) throw new EngineError('other', "Docker loaded no image from the server's file")
  return inspectImage(docker, reference)
}

async function inspectImage(docker: Docker, reference: string): Promise<AgentImage> {
  const { Id } = await translating(`inspect the image ${reference}`, () => docker.getImage(reference).inspect())
  return { id: Id, reference }
}

/**
 * Removes the image of an agent that was replaced. It stays if it has another name than the one the agent was started or updated with,
 * because a user gave it that name. The engine itself refuses to remove the image of any container, also of a stopped one, and an image that
 * got another name meanwhile: the removal is by id and without force.
 *
 * @returns why the image stays; undefined when it is gone
 */
export async function removeAgentImage(docker: Docker, id: string, reference: string): Promise<string | undefined> {
  try {
    const info = await translatingIfThere('inspect the image', () => docker.getImage(id).inspect())
    const ownName = shortImageName(withTag(reference))
    const other = (info?.RepoTags ?? []).find((tag) => !tag.startsWith('<none>') && shortImageName(tag) !== ownName)
    if (other) return `It is named ${other} too`
    await translatingIfThere('remove the image of the previous agent', () =>
      docker.getImage(id).remove({ noprune: true }),
    )
    return undefined
  } catch (error) {
    return getMessage(error)
  }
}
