import { CruxError, patterns } from '@crux/contract'
import type { ChannelHandlers } from '../live/handlers.ts'
import type { Browser } from './browse.ts'

/** The search for images and the lists of their tags; the answer goes to who asked. */
export function registryChannels(browser: Browser): ChannelHandlers<'registries'> {
  return {
    registries: {
      async open() {},
      messages: {
        async 'find-image'({ send, team }, { registryId, filter }) {
          const names = await browser.find(team, registryId, filter)
          send('find-image-result', { registryId, images: names.map((name) => ({ id: '', name, tags: 0 })) })
        },
        async 'fetch-image-tags'({ send, team }, { registryId, images }) {
          for (const name of images)
            if (!patterns.imageName.test(name))
              throw new CruxError('invalidArgument', {
                property: 'images',
                value: name,
                description: `"${name}" is no name of an image.`,
              })
          const lists = await Promise.all(
            images.map(async (name) => ({ name, tags: await browser.tags(team, registryId, name) })),
          )
          send('registry-image-tags', { registryId, images: lists })
        },
      },
    },
  }
}
