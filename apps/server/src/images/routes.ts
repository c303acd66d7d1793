import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { Browser } from '../registries/index.ts'
import { addImages, changeImage, getImage, listImages, orderImages, removeImage } from './actions.ts'

type ImageOperation = Exclude<Extract<keyof Handlers, `images.${string}`>, 'images.inspect'>

export function imageRoutes(app: App, browser: Browser): Handlers<ImageOperation> {
  return {
    'images.list': ({ caller, params }) => listImages(app, caller, params),
    'images.get': ({ caller, params }) => getImage(app, caller, params, params.imageId),
    'images.create': ({ caller, params, body }) => addImages(app, browser, caller, params, body),
    'images.order': ({ caller, params, body }) => orderImages(app, caller, params, body),
    'images.update': ({ caller, params, body }) => changeImage(app, browser, caller, params, params.imageId, body),
    'images.delete': ({ caller, params }) => removeImage(app, caller, params, params.imageId),
  }
}
