import { CruxError, patterns } from '@crux/contract'
import type { App } from '../context.ts'
import type { ChannelHandlers, Subscriber } from '../live/handlers.ts'
import type { Browser } from './browse.ts'

type Looker = Subscriber<'registries'>
/** A push of many tags is told event by event: they are asked for once. */
const settleMs = 250

/** The search for images and the lists of their tags; who asked for tags is told again when the registry tells of a push. */
export function registryChannels(app: App, browser: Browser): ChannelHandlers<'registries'> {
  const lookers = new Map<Looker, Map<string, Set<string>>>()
  const waiting = new Map<string, Set<string>>()

  browser.onPushed((registryId, images) => {
    const soon = waiting.get(registryId) ?? new Set()
    for (const image of images) soon.add(image)
    if (waiting.has(registryId)) return
    waiting.set(registryId, soon)
    setTimeout(() => {
      waiting.delete(registryId)
      for (const [looker, asked] of lookers) {
        const names = [...(asked.get(registryId) ?? [])].filter((name) => soon.has(name))
        if (names.length > 0)
          sendTags(looker, registryId, names).catch((err: unknown) =>
            app.log.debug({ err, registryId }, 'pushed tags could not be read'),
          )
      }
    }, settleMs).unref()
  })

  async function sendTags(looker: Looker, registryId: string, names: readonly string[]) {
    const images = await Promise.all(
      names.map(async (name) => ({ name, tags: await browser.tags(looker.team, registryId, name) })),
    )
    looker.send('registry-image-tags', { registryId, images })
  }

  return {
    registries: {
      async open(looker) {
        lookers.set(looker, new Map())
        looker.onLeave(() => lookers.delete(looker))
      },
      messages: {
        async 'find-image'({ send, team }, { registryId, filter }) {
          const names = await browser.find(team, registryId, filter)
          send('find-image-result', { registryId, filter, images: names.map((name) => ({ id: '', name, tags: 0 })) })
        },
        async 'fetch-image-tags'(looker, { registryId, images }) {
          for (const name of images)
            if (!patterns.imageName.test(name))
              throw new CruxError('invalidArgument', {
                property: 'images',
                value: name,
                description: `"${name}" is no name of an image.`,
              })
          await sendTags(looker, registryId, images)
          const asked = lookers.get(looker)
          asked?.set(registryId, new Set([...(asked.get(registryId) ?? []), ...images]))
        },
      },
    },
  }
}
