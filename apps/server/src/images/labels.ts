import { getRegistryReference } from '@crux/rules'
import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Browser } from '../registries/index.ts'

/** Labels are optional: neither a slow nor an unreachable registry prevents adding an image. */
const labelsMs = 3_000
const atOnce = 5

type Wanted = { registryId: string; name: string; tag: string | null }

/** The labels of each image, in the same order; undefined where they were not available in time. */
export async function fetchLabels(
  app: App,
  browser: Browser,
  team: TeamContext,
  images: readonly Wanted[],
): Promise<(Record<string, string> | undefined)[]> {
  const found: (Record<string, string> | undefined)[] = images.map(() => undefined)
  const waiting = [...images.entries()]
  let late = false

  const worker = async () => {
    for (let next = waiting.shift(); next && !late; next = waiting.shift()) {
      const [index, { registryId, name, tag }] = next
      try {
        found[index] = await browser.labels(team, registryId, name, getRegistryReference(tag))
      } catch (err) {
        app.log.debug({ err, registryId, name, tag }, 'the labels of an image could not be read')
      }
    }
  }
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      late = true
      resolve()
    }, labelsMs)
  })
  await Promise.race([Promise.all(Array.from({ length: atOnce }, worker)), end])
  clearTimeout(timer)
  return [...found]
}
