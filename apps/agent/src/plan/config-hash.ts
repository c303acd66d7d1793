import { createHash } from 'node:crypto'
import type { FinalContainerConfig } from '@crux/contract'
import { canonicalJson } from '@crux/rules'

/** Equal for an instance whose image and final configuration are the same; row ids and the order of keys do not count. */
export function configHash(digest: string, config: FinalContainerConfig): string {
  return createHash('sha256')
    .update(`${digest}\n${canonicalJson(config)}`)
    .digest('hex')
}
