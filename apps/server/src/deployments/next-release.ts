import type { ResponseInput } from '@crux/contract'
import type { ReleaseInstanceRow } from '../releases/index.ts'

export type Warnings = NonNullable<ResponseInput<'deployments.preview'>['instances'][number]['warnings']>

/**
 * One container as a start would create it, from the current layers or from an earlier release. Digests are known only
 * for releases and for pinned images: a start from the current layers resolves other tags later.
 */
export type Next = Omit<ReleaseInstanceRow, 'containerName'> & {
  warnings: Warnings
  /** It ran before. */
  isEarlier?: boolean
}
