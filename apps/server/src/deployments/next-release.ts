import type { FinalContainerConfig, ResponseInput } from '@crux/contract'

export type Warnings = NonNullable<ResponseInput<'deployments.preview'>['instances'][number]['warnings']>

/** One container as a start would create it, from the current layers or from an earlier release. */
export type Next = {
  instanceId: string
  registryId: string | null
  localOnly: boolean
  imageName: string
  imageTag: string
  /** Known only for releases: a start from the current layers resolves the tag later. */
  digest: string | null
  /** The digests of the images of init and config containers, known only for releases. */
  preparationDigests: Record<string, string>
  config: FinalContainerConfig
  warnings: Warnings
}
