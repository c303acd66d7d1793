import type { TeamRole } from './enums.ts'

/**
 * The access policy, deny by default: permission -> the minimum role (docs/decisions.md#roles). `public` requires nothing, `session` any signed-in
 * user; endpoints name both in place of a permission.
 */
export const permissions = {
  'teams.read': 'user',
  'teams.edit': 'admin',
  'teams.slug': 'owner',
  'teams.security': 'owner',
  'teams.delete': 'owner',
  'team-members.invite': 'admin',
  'team-members.roles': 'owner',
  'service-accounts.read': 'admin',
  'service-accounts.edit': 'admin',
  'audit-log.read': 'user',
  'dashboard.read': 'user',
  'nodes.read': 'user',
  'nodes.edit': 'admin',
  'containers.read': 'user',
  /** Name, image and state of containers, and names and sizes of images, that do not belong to the team. */
  'containers.read-foreign': 'admin',
  'containers.operate': 'user',
  'containers.delete': 'admin',
  /** Claims of volumes of a cluster with their data, and the namespace of a prefix. */
  'containers.delete-data': 'admin',
  'registries.read': 'user',
  'registries.edit': 'admin',
  'projects.read': 'user',
  'projects.edit': 'user',
  'deployments.read': 'user',
  'deployments.edit': 'user',
  'deployments.start': 'user',
  'deployments.protect': 'admin',
  'deployments.token': 'user',
  'tokens.of-others': 'admin',
  'container-configurations.read': 'user',
  'container-configurations.edit': 'user',
  'container-configurations.host-dangerous': 'admin',
  'config-bundles.read': 'user',
  'config-bundles.edit': 'user',
  'storages.read': 'user',
  'storages.edit': 'admin',
  'packages.read': 'user',
  'packages.edit': 'user',
  /** Freeze windows, and starts during one. */
  'packages.freeze': 'admin',
  'pipelines.read': 'user',
  'pipelines.trigger': 'user',
  'pipelines.edit': 'admin',
  'notifications.read': 'user',
  'notifications.edit': 'admin',
} as const satisfies Record<string, TeamRole>

export type Permission = keyof typeof permissions

const rank: Record<TeamRole, number> = { user: 0, admin: 1, owner: 2 }

export const isAllowed = (role: TeamRole, permission: Permission): boolean =>
  rank[role] >= rank[permissions[permission]]
