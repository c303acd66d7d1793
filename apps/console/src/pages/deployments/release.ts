import type { ResponseOf } from '@crux/contract'

export type Release = ResponseOf<'deployments.releases'>[number]
