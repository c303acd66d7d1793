import { ApiError, type Received } from '@crux/client'
import type { ClientData, ClientMessage, ServerMessage } from '@crux/contract'
import { queryOptions } from '@tanstack/react-query'
import { live } from './live.ts'

/** Images that are requested together. */
export const imagePageSize = 100

export type ImagePage = { names: string[]; total: number; filter: string }

/** The start of the keys of everything that is cached of the images of a registry. */
export const imagesKey = (teamSlug: string, registryId: string) => ['registry-images', teamSlug, registryId] as const

/** A page of the images whose names contain the filter, and how many there are. The server searches, over the live channel. */
export const imagePageQuery = (teamSlug: string, registryId: string, filter: string, page: number) =>
  queryOptions<ImagePage, ApiError>({
    queryKey: [...imagesKey(teamSlug, registryId), 'page', filter, page],
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const [skip, take] = [page * imagePageSize, imagePageSize]
      const fits = (data: Received<'registries', 'find-image-result'>) =>
        data.registryId === registryId && (data.filter ?? filter) === filter && (data.skip ?? skip) === skip
      const question = { registryId, filter, skip, take }
      const { images, total } = await ask(teamSlug, signal, 'find-image', question, 'find-image-result', fits)
      return { names: images.map((image) => image.name), total: total ?? images.length, filter }
    },
  })

export type ImageTag = Received<'registries', 'registry-image-tags'>['images'][number]['tags'][number]

export const tagsQuery = (teamSlug: string, registryId: string, image: string) =>
  queryOptions<ImageTag[], ApiError>({
    queryKey: ['registry-tags', teamSlug, registryId, image],
    staleTime: 30_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const question = { registryId, images: [image] }
      const mine = (data: Received<'registries', 'registry-image-tags'>) =>
        data.registryId === registryId && data.images.some((found) => found.name === image)
      const { images } = await ask(teamSlug, signal, 'fetch-image-tags', question, 'registry-image-tags', mine)
      return images.find((found) => found.name === image)?.tags ?? []
    },
  })

/** What the list of tags lacks about these tags. */
export const tagDetailsQuery = (teamSlug: string, registryId: string, image: string, tags: string[]) =>
  queryOptions<ImageTag[], ApiError>({
    queryKey: ['registry-tag-details', teamSlug, registryId, image, tags],
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const mine = (data: Received<'registries', 'registry-tag-details'>) =>
        data.registryId === registryId &&
        data.image === image &&
        data.tags.map(({ name }) => name).join() === tags.join()
      const question = { registryId, image, tags }
      return (await ask(teamSlug, signal, 'fetch-tag-details', question, 'registry-tag-details', mine)).tags
    },
  })

/** How long a registry may take; hubs with many tags are slow. */
const answerMs = 45_000
let asked = 0

/** @throws ApiError what the registry or the server refused, 503 when no answer comes; the signal's reason */
function ask<M extends ClientMessage<'registries'>, R extends ServerMessage<'registries'>>(
  teamSlug: string,
  signal: AbortSignal,
  type: M,
  data: ClientData<'registries', M>,
  answer: R,
  fits: (data: Received<'registries', R>) => boolean,
): Promise<Received<'registries', R>> {
  const channel = live.channel('registries', { teamSlug })
  const { promise, resolve, reject } = Promise.withResolvers<Received<'registries', R>>()
  signal.addEventListener('abort', () => reject(signal.reason))
  const late = { status: 503, error: 'serviceUnavailable', description: 'The registry did not answer in time.' }
  const timer = setTimeout(() => reject(new ApiError(late)), answerMs)
  const id = String(++asked)
  const unheard = live.onError(({ message, ...failure }) => {
    // A refused subscription names no message.
    if (failure.path === channel.path && (failure.id ?? id) === id)
      reject(
        new ApiError({ ...failure, error: failure.error ?? 'UNKNOWN', description: failure.description ?? message }),
      )
  })
  channel.on(answer, (result) => fits(result) && resolve(result))
  // Again after a reconnect: the question or its answer went with the link.
  channel.onReady(() => channel.send(type, data, id))
  return promise.finally(() => {
    clearTimeout(timer)
    unheard()
    channel.close()
  })
}
