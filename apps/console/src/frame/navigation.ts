import {
  Bell,
  Boxes,
  Database,
  FileCode2,
  HardDrive,
  LayoutDashboard,
  LayoutTemplate,
  type LucideIcon,
  Package,
  Rocket,
  Server,
  SlidersHorizontal,
  Workflow,
} from 'lucide-react'
import { links } from '../routing/links.ts'

/** The groups of the sidebar. The palette lists the same pages. */
export const navigation = [
  { group: null, entries: [{ id: 'dashboard', icon: LayoutDashboard, link: links.dashboard }] },
  {
    group: 'components',
    entries: [
      { id: 'projects', icon: Boxes, link: (slug: string) => links.projects(slug) },
      { id: 'deployments', icon: Rocket, link: (slug: string) => links.deployments(slug) },
      { id: 'nodes', icon: Server, link: (slug: string) => links.nodes(slug) },
      { id: 'registries', icon: Database, link: (slug: string) => links.registries(slug) },
      { id: 'config-bundles', icon: SlidersHorizontal, link: (slug: string) => links.configBundles(slug) },
      { id: 'packages', icon: Package, link: (slug: string) => links.packages(slug) },
    ],
  },
  {
    group: 'integrations',
    entries: [
      { id: 'storages', icon: HardDrive, link: (slug: string) => links.storages(slug) },
      { id: 'pipelines', icon: Workflow, link: (slug: string) => links.pipelines(slug) },
      { id: 'notifications', icon: Bell, link: (slug: string) => links.notifications(slug) },
    ],
  },
  {
    group: 'tools',
    entries: [
      { id: 'templates', icon: LayoutTemplate, link: () => links.templates() },
      { id: 'composer', icon: FileCode2, link: () => links.composer() },
    ],
  },
] as const satisfies readonly {
  group: 'components' | 'integrations' | 'tools' | null
  entries: readonly { id: string; icon: LucideIcon; link: (slug: string) => object }[]
}[]

export type NavigationEntry = (typeof navigation)[number]['entries'][number]
