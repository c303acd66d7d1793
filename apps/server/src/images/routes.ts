import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { Browser } from '../registries/index.ts'
import { addImages, changeImage, getImage, listImages, orderImages, removeImage } from './actions.ts'

type ImageOperation =
  | 'images.list'
  | 'images.get'
  | 'images.create'
  | 'images.order'
  | 'images.update'
  | 'images.delete'

export function imageRoutes(app: App, browser: Browser): Handlers<ImageOperation> {
  return {
    'images.list': ({ team, params }) => listImages(app, team, params),
    'images.get': ({ team, params }) => getImage(app, team, params, params.imageId),
    'images.create': ({ team, actor, params, body }) => addImages(app, browser, { team, actor }, params, body),
    'images.order': async ({ team, actor, params, body }) =>
      void (await orderImages(app, { team, actor }, params, body)),
    'images.update': async ({ team, actor, params, body }) =>
      void (await changeImage(app, browser, { team, actor }, params, params.imageId, body)),
    'images.delete': async ({ team, params }) => void (await removeImage(app, team, params, params.imageId)),
  }
}
