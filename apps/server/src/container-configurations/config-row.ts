import type { ContainerConfigType } from '@crux/contract'

export type ConfigRow = {
  id: string
  type: ContainerConfigType
  fields: unknown
  revision: number
  updatedAt: Date | string
  updatedBy: string | null
}
