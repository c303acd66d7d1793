import type { ResponseOf } from '@crux/contract'

export type Project = ResponseOf<'projects.get'>

export type VersionRow = Project['versions'][number]
