import { limits } from '@crux/contract'
import { type ComposeResult, countErrors } from './compose-result.ts'

/** Why no version can be generated now; `count` is of problems, services or registries. */
export type GenerateBlocker =
  | { reason: 'reading' | 'noServices' }
  | { reason: 'problems' | 'registries' | 'dangers' | 'tooMany'; count: number }

/**
 * @param options.isReady false while reading takes long or failed, when the result is outdated
 * @param options.isAdmin whether the user may use settings that reach the node
 */
export function findGenerateBlocker(
  result: ComposeResult | null,
  { isReady, isAdmin }: { isReady: boolean; isAdmin: boolean },
): GenerateBlocker | null {
  if (!result || !isReady) return { reason: 'reading' }
  const errors = countErrors(result.problems)
  if (errors > 0) return { reason: 'problems', count: errors }
  if (result.services.length === 0) return { reason: 'noServices' }
  if (result.services.length > limits.importedImages) return { reason: 'tooMany', count: result.services.length }
  if (result.missingHosts.length > 0) return { reason: 'registries', count: result.missingHosts.length }
  const dangerous = result.services.filter(({ dangers }) => dangers.length > 0).length
  if (dangerous > 0 && !isAdmin) return { reason: 'dangers', count: dangerous }
  return null
}
