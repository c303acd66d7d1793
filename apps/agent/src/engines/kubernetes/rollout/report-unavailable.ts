import { inBackground } from '@crux/service-kit'
import { pause } from '../../../concurrency/pause.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { ReleaseContext } from './release-context.ts'

const askEveryMs = 5_000

/**
 * Reports that the API server does not answer while a release waits for changes in the cluster: a watch without an API server looks like one
 * without changes.
 *
 * @returns a function that ends it
 */
export function reportUnavailable(context: Pick<ReleaseContext, 'node' | 'progressReporter' | 'signal'>): () => void {
  const { node, progressReporter, signal } = context
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  const ask = async () => {
    while (!either.aborted) {
      await pause(askEveryMs, either)
      await retryWhileUnavailable(() => node.cluster.assertAvailable(), either, { progressReporter })
    }
  }
  // Any other error is met, and reported, by what the release asks itself.
  inBackground('asking the cluster whether it answers', () => ask().catch(() => undefined))
  return () => ending.abort()
}
