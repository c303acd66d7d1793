import { ApiError, type LiveChannel, type Received } from '@crux/client'
import type { ClientData, ClientMessage, ServerMessage } from '@crux/contract'
import { queryOptions } from '@tanstack/react-query'
import { inlineErrors, live } from './live.ts'

/** What a registry holds, asked over the live channel and cached like any other query. An empty filter lists everything. */
export const imagesQuery = (teamSlug: string, registryId: string, filter: string) =>
  queryOptions<string[], ApiError>({
    queryKey: ['registry-images', teamSlug, registryId, filter],
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const ask = { registryId, filter }
      const { images } = await inTurn(
        teamSlug,
        signal,
        'find-image',
        ask,
        'find-image-result',
        (data) => data.registryId === registryId && (data.filter ?? filter) === filter,
      )
      return images.map((image) => image.name)
    },
  })

export type ImageTag = { name: string; created?: string | null }

export const tagsQuery = (teamSlug: string, registryId: string, image: string) =>
  queryOptions<ImageTag[], ApiError>({
    queryKey: ['registry-tags', teamSlug, registryId, image],
    staleTime: 30_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const ask = { registryId, images: [image] }
      const mine = (data: Received<'registries', 'registry-image-tags'>) =>
        data.registryId === registryId && data.images.some((found) => found.name === image)
      const { images } = await inTurn(teamSlug, signal, 'fetch-image-tags', ask, 'registry-image-tags', mine)
      return images.find((found) => found.name === image)?.tags ?? []
    },
  })

/** How long a registry may take; hubs with many tags are slow. */
const answerMs = 45_000
const turns = new Map<string, Promise<unknown>>()

/** Answers do not name their question, so one question is asked at a time and the next waits for its answer. */
function inTurn<M extends ClientMessage<'registries'>, R extends ServerMessage<'registries'>>(
  teamSlug: string,
  signal: AbortSignal,
  type: M,
  data: ClientData<'registries', M>,
  answer: R,
  fits: (data: Received<'registries', R>) => boolean,
): Promise<Received<'registries', R>> {
  const before = turns.get(teamSlug) ?? Promise.resolve()
  const mine = before.then(() => {
    signal.throwIfAborted()
    return askOnce(live.channel('registries', { teamSlug }), signal, type, data, answer, fits)
  })
  turns.set(
    teamSlug,
    mine.catch(() => {}),
  )
  return mine
}

function askOnce<M extends ClientMessage<'registries'>, R extends ServerMessage<'registries'>>(
  channel: LiveChannel<'registries'>,
  signal: AbortSignal,
  type: M,
  data: ClientData<'registries', M>,
  answer: R,
  fits: (data: Received<'registries', R>) => boolean,
): Promise<Received<'registries', R>> {
  const { promise, resolve, reject } = Promise.withResolvers<Received<'registries', R>>()
  signal.addEventListener('abort', () => reject(signal.reason))
  const timer = setTimeout(
    () =>
      reject(
        new ApiError({ status: 503, error: 'serviceUnavailable', description: 'The registry did not answer in time.' }),
      ),
    answerMs,
  )
  const release = inlineErrors(channel.path, (failure) =>
    reject(
      new ApiError({
        status: failure.status,
        error: failure.error ?? 'UNKNOWN',
        property: failure.property,
        value: failure.value,
        description: failure.description ?? failure.message,
      }),
    ),
  )
  channel.on(answer, (result) => fits(result) && resolve(result))
  channel.send(type, data)
  return promise.finally(() => {
    clearTimeout(timer)
    release()
    channel.close()
  })
}
