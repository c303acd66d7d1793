import type { FinalContainerConfig, ResponseInput } from '@crux/contract'

export type Warnings = NonNullable<ResponseInput<'deployments.preview'>['instances'][number]['warnings']>

/** One container as it would be, from the layers of now or from an earlier release. */
export type Next = {
  instanceId: string
  registryId: string | null
  localOnly: boolean
  imageName: string
  imageTag: string
  /** Known of releases only: a start of now asks what the tag names. */
  digest: string | null
  /** Likewise, of the images of init and config containers. */
  preparationDigests: Record<string, string>
  config: FinalContainerConfig
  warnings: Warnings
}
