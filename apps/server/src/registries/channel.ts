import { CruxError, patterns } from '@crux/contract'
import type { App } from '../context.ts'
import type { ChannelHandlers, Subscriber } from '../live/index.ts'
import type { Browser } from './browse.ts'

type ChannelSubscriber = Subscriber<'registries'>
/** A push of many tags arrives as many events, for which the tags are requested once. */
const settleMs = 250

/** The search for images and the lists of their tags. Subscribers of tags get them again when the registry reports a push. */
export function registryChannels(app: App, browser: Browser): ChannelHandlers<'registries'> {
  const subscribers = new Map<ChannelSubscriber, Map<string, Set<string>>>()
  const waiting = new Map<string, Set<string>>()

  browser.onPushed((registryId, images) => {
    const soon = waiting.get(registryId) ?? new Set()
    for (const image of images) soon.add(image)
    if (waiting.has(registryId)) return
    waiting.set(registryId, soon)
    setTimeout(() => {
      waiting.delete(registryId)
      for (const [subscriber, asked] of subscribers) {
        const names = [...(asked.get(registryId) ?? [])].filter((name) => soon.has(name))
        if (names.length > 0)
          sendTags(subscriber, registryId, names).catch((err: unknown) =>
            app.log.debug({ err, registryId }, 'pushed tags could not be read'),
          )
      }
    }, settleMs).unref()
  })

  async function sendTags(subscriber: ChannelSubscriber, registryId: string, names: readonly string[]) {
    const images = await Promise.all(
      names.map(async (name) => ({ name, tags: await browser.tags(subscriber.team, registryId, name) })),
    )
    subscriber.send('registry-image-tags', { registryId, images })
  }

  return {
    registries: {
      async open(subscriber) {
        subscribers.set(subscriber, new Map())
        subscriber.onLeave(() => subscribers.delete(subscriber))
      },
      messages: {
        async 'find-image'({ send, team }, { registryId, filter, skip, take }) {
          const { names, total } = await browser.find(team, registryId, filter, { skip, take })
          const images = names.map((name) => ({ id: '', name, tags: 0 }))
          // Clients that do not ask for a page get the answer that they know.
          const page = skip === undefined && take === undefined ? {} : { skip: skip ?? 0, total }
          send('find-image-result', { registryId, filter, images, ...page })
        },
        async 'fetch-image-tags'(subscriber, { registryId, images }) {
          for (const name of images) assertImageName('images', name)
          await sendTags(subscriber, registryId, images)
          const asked = subscribers.get(subscriber)
          asked?.set(registryId, new Set([...(asked.get(registryId) ?? []), ...images]))
        },
        async 'fetch-tag-details'({ send, team }, { registryId, image, tags }) {
          assertImageName('image', image)
          send('registry-tag-details', {
            registryId,
            image,
            tags: await browser.tagDetails(team, registryId, image, tags),
          })
        },
      },
    },
  }
}

/** @throws CruxError invalidArgument `property` */
function assertImageName(property: string, value: string): void {
  if (!patterns.imageName.test(value))
    throw new CruxError('invalidArgument', { property, value, description: `"${value}" is not an image name.` })
}
