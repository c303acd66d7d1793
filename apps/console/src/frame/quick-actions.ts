import type { Operation } from '@crux/contract'
import type { LinkProps } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { NavigationEntry } from './navigation.ts'

/** One record of a team in the palette. */
export type QuickAction = {
  id: string
  /** Typed text is matched against these; the first is the name. */
  searchText: string[]
  link: LinkProps
  /** What is shown, where it is more than the name. */
  content?: ReactNode
  trailing?: ReactNode
}

/** A form that the palette opens. */
export type CreateAction = {
  operation: Operation
  label: `palette:${'newProject' | 'runImage' | 'newNode' | 'newRegistry' | 'newBundle' | 'newPackage' | 'newStorage' | 'newPipeline' | 'newNotification'}`
  link: (teamSlug: string) => LinkProps
}

/** The records that one area of pages adds to the palette, and its forms that the palette opens. */
export type QuickActionSource = {
  area: NavigationEntry['id'] | 'teams'
  icon: LucideIcon
  /** Also listed on pages without a team. */
  needsNoTeam?: true
  create?: readonly CreateAction[]
  useQuickActions: (teamSlug: string, typed: string) => QuickAction[]
}

type Load = () => Promise<readonly QuickActionSource[]>
let load: Load = async () => []

/** Called once at start, because the frame imports no pages. The sources are loaded with the palette. */
export function registerQuickActions(sources: Load): void {
  load = sources
}

export const loadQuickActions: Load = () => load()
