import type { ResponseOf } from '@crux/contract'
import { defaultContainerName } from '@crux/rules'

/** What the container will be called, without its prefix. */
export const instanceName = (instance: ResponseOf<'deployments.get'>['instances'][number]): string =>
  instance.config.name || instance.image.config.name || defaultContainerName(instance.image.name)
