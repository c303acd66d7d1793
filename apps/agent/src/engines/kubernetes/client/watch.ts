import type { Logger } from '@crux/service-kit'
import { z } from 'zod'
import { guardedTimer, pause } from '../../../concurrency/pause.ts'
import type { ListFilter, ObjectKind, WatchEvent } from '../cluster/cluster.ts'
import { type Api, parseOrUndefined } from './api.ts'
import { NoAnswerError, toApiError } from './api-error.ts'
import { translate, translating } from './errors.ts'
import { getResource, toCollectionPath } from './kinds.ts'
import { toObject, toPage, toSelectors } from './objects.ts'

/**
 * The API server ends a watch after this time, with a bookmark of the position. A connection on which nothing arrives any more looks like one
 * without changes: only that end shows that it works, and a release waits for it.
 */
const watchSeconds = 30
/** A watch that its API server has not ended by then does not work. */
const overdueMs = (watchSeconds + 10) * 1_000
const pauseMs = 100
const pauseMsMax = 10_000
const gone = 410

const Line = z.object({
  type: z.string(),
  object: z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string().default('') }) }),
})

interface Watched {
  api: Api
  kind: ObjectKind
  filter: ListFilter
  signal: AbortSignal
  log: Logger
}

/** See `Cluster.watch`. An error that another attempt would meet again, such as a missing right, ends it. */
export async function* watch(watched: Watched): AsyncGenerator<WatchEvent> {
  const { kind, log, signal } = watched
  let position: string | undefined
  let waitMs = pauseMs
  let isInterrupted = false
  let isListed = false
  while (!signal.aborted) {
    try {
      if (position === undefined) {
        position = await getPosition(watched)
        isListed = false
      }
      for await (const line of openWatch(watched, position)) {
        if (isInterrupted) log.info({ kind }, 'the cluster reports changes again')
        isInterrupted = false
        waitMs = pauseMs
        if (line === 'opened') {
          // Who may list and not watch would show what was true once.
          if (!isListed) yield { type: 'relist' }
          isListed = true
          continue
        }
        position = line.resourceVersion
        if (line.event) yield line.event
      }
      // The API server ends a watch now and then; at once after that another one is opened.
      waitMs = pauseMs
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof PositionLostError) position = undefined
      else {
        const translated = translate(error, { verb: 'watch', kind, namespace: watched.filter.namespace })
        if (translated.kind === 'refused' || translated.kind === 'not-found') throw translated
        if (!isInterrupted)
          log.warn({ kind, reason: translated.message }, 'the cluster does not report changes, trying again')
        isInterrupted = true
      }
      await pause(waitMs * (0.5 + Math.random() / 2), signal).catch(() => undefined)
      waitMs = Math.min(pauseMsMax, waitMs * 2)
    }
  }
}

/** The changes after the watch's position are not kept any more. */
class PositionLostError extends Error {
  override name = 'PositionLostError'
}

/** Where a watch may begin before its caller lists: whatever changes after this moment is reported. */
function getPosition({ api, filter, kind, signal }: Watched): Promise<string> {
  const path = toCollectionPath(kind, filter.namespace ?? '')
  return translating(
    { verb: 'list', kind, namespace: filter.namespace },
    async () =>
      toPage(kind, await api.json({ path, query: { ...toSelectors(filter), limit: '1' }, signal })).resourceVersion,
  )
}

async function* openWatch(
  { api, filter, kind, signal }: Watched,
  resourceVersion: string,
): AsyncGenerator<'opened' | { resourceVersion: string; event: WatchEvent | undefined }> {
  const answer = await api
    .stream(
      {
        path: toCollectionPath(kind, filter.namespace ?? ''),
        query: {
          ...toSelectors(filter),
          watch: 'true',
          allowWatchBookmarks: 'true',
          timeoutSeconds: String(watchSeconds),
          resourceVersion,
        },
        signal,
      },
      { isPrompt: true },
    )
    .catch((error: unknown) => {
      throw isGone(error) ? new PositionLostError() : error
    })
  const overdue = guardedTimer('an overdue watch', overdueMs, () =>
    answer.destroy(new NoAnswerError(`a watch of ${getResource(kind)} did not end in time`)),
  )
  overdue.unref()
  try {
    yield 'opened'
    for await (const text of toLines(answer)) yield toChange(kind, text)
  } finally {
    clearTimeout(overdue)
    answer.destroy()
  }
}

function toChange(kind: ObjectKind, text: string): { resourceVersion: string; event: WatchEvent | undefined } {
  const line = Line.safeParse(parseOrUndefined(text)).data
  if (!line) throw new NoAnswerError('a watch delivered something else than changes')
  const { object, type } = line
  if (type === 'ERROR') {
    const error = toApiError(0, object)
    throw isGone(error) ? new PositionLostError() : error
  }
  const { resourceVersion } = object.metadata
  if (type === 'BOOKMARK') return { resourceVersion, event: undefined }
  return {
    resourceVersion,
    event: { type: type === 'DELETED' ? 'deleted' : 'changed', object: toObject(kind, object) },
  }
}

const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === gone

async function* toLines(answer: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Buffer[] = []
  for await (const chunk of answer) {
    const data = Buffer.from(chunk)
    let at = 0
    for (let end = data.indexOf(10); end !== -1; end = data.indexOf(10, at)) {
      parts.push(data.subarray(at, end))
      at = end + 1
      const line = Buffer.concat(parts).toString('utf8')
      parts = []
      if (line !== '') yield line
    }
    if (at < data.length) parts.push(data.subarray(at))
  }
}
