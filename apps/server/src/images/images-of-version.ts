import type { Image } from '@crux/contract'
import type { App } from '../context.ts'
import * as store from './store.ts'

export const imagesOf = (app: App, versionId: string): Promise<Image[]> =>
  store.selectImages(app.database.pool, versionId)
