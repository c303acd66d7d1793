import { createHash } from 'node:crypto'
import type { FinalContainerConfig } from '@crux/contract'
import { canonicalJson } from '@crux/rules'

/** Equal for instances with the same image and final configuration; row ids and the order of keys do not count. */
export function configHash(digest: string, config: FinalContainerConfig): string {
  return createHash('sha256')
    .update(`${digest}\n${canonicalJson(config)}`)
    .digest('hex')
}
