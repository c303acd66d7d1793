import { useQuery } from '@tanstack/react-query'
import { Bell, Boxes, Database, HardDrive, Package, Server, SlidersHorizontal, Users } from 'lucide-react'
import { apiQuery } from './api/client.ts'
import { useMe } from './api/me.ts'
import { State } from './components/State.tsx'
import type { QuickActionSource } from './frame/quick-actions.ts'
import { deploymentQuickActions } from './pages/deployments/quick-actions.tsx'
import { pipelineQuickActions } from './pages/pipelines/quick-actions.tsx'
import { links } from './routing/links.ts'

/** What the palette lists, in its order. */
export const quickActionSources: readonly QuickActionSource[] = [
  {
    area: 'projects',
    icon: Boxes,
    create: [
      { operation: 'projects.create', label: 'palette:newProject', link: (slug) => links.projects(slug, 'new') },
      { operation: 'projects.run', label: 'palette:runImage', link: (slug) => links.projects(slug, 'run') },
    ],
    useQuickActions: (teamSlug) =>
      (useQuery(apiQuery('projects.list', { params: { teamSlug } })).data ?? []).map(({ id, name }) => ({
        id,
        searchText: [name],
        link: links.project(teamSlug, id),
      })),
  },
  deploymentQuickActions,
  {
    area: 'nodes',
    icon: Server,
    create: [{ operation: 'nodes.create', label: 'palette:newNode', link: (slug) => links.nodes(slug, 'new') }],
    useQuickActions: (teamSlug) =>
      (useQuery(apiQuery('nodes.list', { params: { teamSlug } })).data ?? []).map(({ id, name, address, status }) => ({
        id,
        searchText: [name, address ?? ''],
        link: links.node(teamSlug, id),
        trailing: <State kind="node" value={status} />,
      })),
  },
  {
    area: 'registries',
    icon: Database,
    create: [
      {
        operation: 'registries.create',
        label: 'palette:newRegistry',
        link: (slug) => links.registries(slug, 'new'),
      },
    ],
    useQuickActions: (teamSlug) =>
      (useQuery(apiQuery('registries.list', { params: { teamSlug } })).data ?? []).map(({ id, name, url }) => ({
        id,
        searchText: [name, url],
        link: links.registry(teamSlug, id),
      })),
  },
  {
    area: 'config-bundles',
    icon: SlidersHorizontal,
    create: [
      {
        operation: 'config-bundles.create',
        label: 'palette:newBundle',
        link: (slug) => links.configBundles(slug, 'new'),
      },
    ],
    useQuickActions: (teamSlug) =>
      (useQuery(apiQuery('config-bundles.list', { params: { teamSlug } })).data ?? []).map(({ id, name }) => ({
        id,
        searchText: [name],
        link: links.configBundle(teamSlug, id),
      })),
  },
  {
    area: 'packages',
    icon: Package,
    create: [
      { operation: 'packages.create', label: 'palette:newPackage', link: (slug) => links.packages(slug, 'new') },
    ],
    useQuickActions: (teamSlug) =>
      (useQuery(apiQuery('packages.list', { params: { teamSlug } })).data ?? []).map(({ id, name, versionChains }) => ({
        id,
        searchText: [name, ...versionChains.map(({ project }) => project.name)],
        link: links.package(teamSlug, id),
      })),
  },
  {
    area: 'storages',
    icon: HardDrive,
    create: [
      { operation: 'storages.create', label: 'palette:newStorage', link: (slug) => links.storages(slug, 'new') },
    ],
    useQuickActions: (teamSlug) =>
      (useQuery(apiQuery('storages.list', { params: { teamSlug } })).data ?? []).map(({ id, name, url }) => ({
        id,
        searchText: [name, url],
        link: links.storage(teamSlug, id),
      })),
  },
  pipelineQuickActions,
  {
    area: 'notifications',
    icon: Bell,
    create: [
      {
        operation: 'notifications.create',
        label: 'palette:newNotification',
        link: (slug) => links.notifications(slug, 'new'),
      },
    ],
    useQuickActions: (teamSlug) =>
      (useQuery(apiQuery('notifications.list', { params: { teamSlug } })).data ?? []).map(({ id, name, url }) => ({
        id,
        searchText: [name, url],
        link: links.notification(teamSlug, id),
      })),
  },
  {
    area: 'teams',
    icon: Users,
    needsNoTeam: true,
    useQuickActions: () =>
      (useMe()?.teams ?? []).map(({ id, name, slug }) => ({
        id,
        searchText: [name, slug],
        link: links.teamHome(slug),
      })),
  },
]
