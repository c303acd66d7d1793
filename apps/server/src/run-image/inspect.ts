import { CruxError, type ResponseInput } from '@crux/contract'
import { getRegistryReference } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Browser } from '../registries/index.ts'
import { findSource, type ImageSource, type NamedImage, readImage } from './image-source.ts'

type Inspection = Pick<ResponseInput<'images.inspect'>, 'exists' | 'problem' | 'exposedPorts'>

/** Reads what a registry of the team tells about an image. No other address is asked. */
export async function inspectImage(
  app: App,
  browser: Browser,
  { team }: Caller,
  text: string,
): Promise<ResponseInput<'images.inspect'>> {
  const image = readImage(text)
  const source = await findSource(app.database.pool, team.id, image)
  const { registry } = source
  return {
    name: image.fullName,
    tag: image.tag,
    registry: registry ? { id: registry.id, name: registry.name, type: registry.type } : null,
    ...(await inspectSource(browser, team, source, image)),
  }
}

/** A registry that does not answer, or limits requests, leaves it unknown whether the image exists. */
async function inspectSource(
  browser: Browser,
  team: Caller['team'],
  { registry, imageName }: ImageSource,
  { tag }: NamedImage,
): Promise<Inspection> {
  if (!registry || registry.type === 'unchecked') return { exists: null, problem: null, exposedPorts: [] }
  try {
    const { exists, exposedPorts } = await browser.inspect(team, registry.id, imageName, getRegistryReference(tag))
    return { exists, problem: null, exposedPorts: [...exposedPorts] }
  } catch (error) {
    if (!(error instanceof CruxError)) throw error
    return { exists: null, problem: error.message, exposedPorts: [] }
  }
}
