import { z } from 'zod'
import { readIfThere, writeDurably } from '../../../files/durable-file.ts'
import { parseJson } from '../../../files/parse-json.ts'
import { shortImageName, toRepository } from '../../images/image-reference.ts'
import type { ContainerEngine, StoredImage } from '../containers/container-engine.ts'

/**
 * Records which images of the store releases of this agent have fetched. Only these may be removed, and no other record survives the
 * deployments.
 */
export interface FetchedImages {
  /** Runs the pull and records its image, unless the store had that image already, under whatever name. */
  fetch(image: { name: string; digest: string }, pull: () => Promise<void>): Promise<void>
  /** Whether a release of this agent fetched the image with this id: then a registry has granted its content to the team. */
  has(id: string): boolean
  /** Ids of the images that a release fetched and that have no names in other repositories; `stored` is the whole store. */
  among(stored: readonly StoredImage[]): Promise<Set<string>>
}

/** By "name@digest"; the id is empty until the pull has ended. */
const Record = z.record(z.string(), z.string())

/** @param path of the file that stores the record */
export async function openFetchedImages(
  path: string,
  engine: Pick<ContainerEngine, 'findImage' | 'listImages'>,
): Promise<FetchedImages> {
  // An unreadable record counts as empty: its images stay indefinitely, which does no harm.
  const known = new Map(Object.entries(parseJson(Record, await readIfThere(path)) ?? {}))
  const underWay = new Map<string, number>()
  let writing = Promise.resolve()

  function save(): Promise<void> {
    const mine = writing.then(() => writeDurably(path, JSON.stringify(Object.fromEntries(known))))
    writing = mine.catch(() => undefined)
    return mine
  }

  return {
    async fetch({ name, digest }, pull) {
      const reference = `${name}@${digest}`
      const wasKnown = known.has(reference)
      underWay.set(reference, (underWay.get(reference) ?? 0) + 1)
      try {
        const before = new Set((await engine.listImages()).map(({ id }) => id))
        // The record is written before the pull: otherwise a process that is killed after it would leave an image that cannot be removed.
        if (!wasKnown) {
          known.set(reference, '')
          await save()
        }
        try {
          await pull()
        } catch (error) {
          if (!wasKnown && known.get(reference) === '') known.delete(reference)
          await save()
          throw error
        }
        const id = (await engine.findImage(reference))?.id ?? ''
        const isOurs = wasKnown || !before.has(id) || [...known.values()].includes(id)
        if (id !== '' && isOurs) known.set(reference, id)
        else known.delete(reference)
        await save()
      } finally {
        const others = (underWay.get(reference) ?? 1) - 1
        if (others > 0) underWay.set(reference, others)
        else underWay.delete(reference)
      }
    },
    has: (id) => id !== '' && [...known.values()].includes(id),
    async among(stored) {
      const ours = new Set<string>()
      const kept = new Set(underWay.keys())
      for (const { id, references } of stored) {
        const names = new Set(references.map(shortImageName))
        const records = [...known].filter(([reference, of]) => (of ? of === id : names.has(shortImageName(reference))))
        for (const [reference] of records) kept.add(reference)
        const repositories = new Set(records.map(([reference]) => shortImageName(toRepository(reference))))
        if (records.length > 0 && [...names].every((name) => repositories.has(toRepository(name)))) ours.add(id)
      }
      // An image that was removed and was then pulled by another user belongs to that user.
      const gone = [...known.keys()].filter((reference) => !kept.has(reference))
      for (const reference of gone) known.delete(reference)
      if (gone.length > 0) await save()
      return ours
    },
  }
}
