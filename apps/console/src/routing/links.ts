import { linkOptions } from '@tanstack/react-router'

/**
 * Every address of the console as a function: `<TextLink {...links.project(team.slug, project.id)}>`, `navigate(links.teams())`.
 * A path that no route has does not compile.
 */
export const links = {
  home: () => linkOptions({ to: '/' }),
  login: () => linkOptions({ to: '/auth/login' }),
  register: () => linkOptions({ to: '/auth/register' }),
  recovery: () => linkOptions({ to: '/auth/recovery' }),
  verify: (email?: string, flow?: string) => linkOptions({ to: '/auth/verify', search: { email, flow } }),
  logout: () => linkOptions({ to: '/auth/logout' }),
  settings: () => linkOptions({ to: '/auth/settings' }),
  editProfile: () => linkOptions({ to: '/auth/settings/edit-profile' }),
  changePassword: () => linkOptions({ to: '/auth/settings/change-password' }),
  newPassword: () => linkOptions({ to: '/auth/settings/new-password' }),
  signInMethods: () => linkOptions({ to: '/auth/settings/sign-in' }),
  secondFactors: () => linkOptions({ to: '/auth/settings/second-factors' }),
  sessions: () => linkOptions({ to: '/auth/settings/sessions' }),
  securityLog: () => linkOptions({ to: '/auth/settings/security-log' }),
  registerOidc: (flow: string) => linkOptions({ to: '/auth/register-oidc', search: { flow } }),
  tokens: () => linkOptions({ to: '/auth/settings/tokens' }),
  status: () => linkOptions({ to: '/status' }),
  templates: () => linkOptions({ to: '/templates' }),
  composer: (search: { section?: ComposerSection; project?: string } = {}) => linkOptions({ to: '/composer', search }),

  teams: () => linkOptions({ to: '/teams' }),
  teamCreate: () => linkOptions({ to: '/teams/create' }),
  team: (teamId: string) => linkOptions({ to: '/teams/$teamId', params: { teamId } }),
  invitation: (teamId: string) => linkOptions({ to: '/teams/$teamId/invitation', params: { teamId } }),

  teamHome: (teamSlug: string) => linkOptions({ to: '/$teamSlug', params: { teamSlug } }),
  dashboard: (teamSlug: string) => linkOptions({ to: '/$teamSlug/dashboard', params: { teamSlug } }),
  auditLog: (teamSlug: string, search: AuditLogFilters = {}) =>
    linkOptions({ to: '/$teamSlug/audit-log', params: { teamSlug }, search }),

  projects: (teamSlug: string, anchor?: 'new' | 'run') =>
    linkOptions({ to: '/$teamSlug/projects', params: { teamSlug }, hash: anchor }),
  project: (teamSlug: string, projectId: string, section?: VersionSection) =>
    linkOptions({ to: '/$teamSlug/projects/$projectId', params: { teamSlug, projectId }, search: { section } }),
  version: (teamSlug: string, projectId: string, versionId: string, section?: VersionSection) =>
    linkOptions({
      to: '/$teamSlug/projects/$projectId/versions/$versionId',
      params: { teamSlug, projectId, versionId },
      search: { section },
    }),

  registries: (teamSlug: string, anchor?: 'new') =>
    linkOptions({ to: '/$teamSlug/registries', params: { teamSlug }, hash: anchor }),
  registry: (teamSlug: string, registryId: string) =>
    linkOptions({ to: '/$teamSlug/registries/$registryId', params: { teamSlug, registryId } }),

  configBundles: (teamSlug: string, anchor?: 'new') =>
    linkOptions({ to: '/$teamSlug/config-bundles', params: { teamSlug }, hash: anchor }),
  configBundle: (teamSlug: string, configBundleId: string) =>
    linkOptions({ to: '/$teamSlug/config-bundles/$configBundleId', params: { teamSlug, configBundleId } }),
  storages: (teamSlug: string, anchor?: 'new') =>
    linkOptions({ to: '/$teamSlug/storages', params: { teamSlug }, hash: anchor }),
  storage: (teamSlug: string, storageId: string) =>
    linkOptions({ to: '/$teamSlug/storages/$storageId', params: { teamSlug, storageId } }),
  pipelines: (teamSlug: string, anchor?: 'new') =>
    linkOptions({ to: '/$teamSlug/pipelines', params: { teamSlug }, hash: anchor }),
  pipeline: (teamSlug: string, pipelineId: string, anchor?: 'trigger') =>
    linkOptions({ to: '/$teamSlug/pipelines/$pipelineId', params: { teamSlug, pipelineId }, hash: anchor }),

  packages: (teamSlug: string, anchor?: 'new') =>
    linkOptions({ to: '/$teamSlug/packages', params: { teamSlug }, hash: anchor }),
  package: (teamSlug: string, packageId: string) =>
    linkOptions({ to: '/$teamSlug/packages/$packageId', params: { teamSlug, packageId } }),
  packageEnvironment: (
    teamSlug: string,
    packageId: string,
    environmentId: string,
    page: { skip?: number; take?: number } = {},
  ) =>
    linkOptions({
      to: '/$teamSlug/packages/$packageId/environments/$environmentId',
      params: { teamSlug, packageId, environmentId },
      search: page,
    }),
  notifications: (teamSlug: string, anchor?: 'new') =>
    linkOptions({ to: '/$teamSlug/notifications', params: { teamSlug }, hash: anchor }),
  notification: (teamSlug: string, notificationId: string) =>
    linkOptions({ to: '/$teamSlug/notifications/$notificationId', params: { teamSlug, notificationId } }),

  nodes: (teamSlug: string, anchor?: 'new') =>
    linkOptions({ to: '/$teamSlug/nodes', params: { teamSlug }, hash: anchor }),
  node: (teamSlug: string, nodeId: string, options: { anchor?: 'edit'; section?: NodeSection; prefix?: string } = {}) =>
    linkOptions({
      to: '/$teamSlug/nodes/$nodeId',
      params: { teamSlug, nodeId },
      hash: options.anchor,
      search: { section: options.section, prefix: options.prefix },
    }),
  /** @param pod only the lines of this pod of a workload */
  containerLog: (teamSlug: string, nodeId: string, container: { prefix: string; name: string }, pod?: string) =>
    linkOptions({
      to: '/$teamSlug/nodes/$nodeId/log',
      params: { teamSlug, nodeId },
      search: { ...container, ...(pod !== undefined && { pod }) },
    }),
  containerInspect: (teamSlug: string, nodeId: string, container: { prefix: string; name: string }) =>
    linkOptions({ to: '/$teamSlug/nodes/$nodeId/inspect', params: { teamSlug, nodeId }, search: container }),

  deployments: (teamSlug: string, search: DeploymentFilters = {}) =>
    linkOptions({ to: '/$teamSlug/deployments', params: { teamSlug }, search }),
  deployment: (teamSlug: string, deploymentId: string) =>
    linkOptions({ to: '/$teamSlug/deployments/$deploymentId', params: { teamSlug, deploymentId } }),
  deploymentProgress: (teamSlug: string, deploymentId: string, release?: number) =>
    linkOptions({
      to: '/$teamSlug/deployments/$deploymentId/deploy',
      params: { teamSlug, deploymentId },
      search: { try: release },
    }),

  /** `field` names a setting to begin at. */
  containerConfiguration: (teamSlug: string, configId: string, view?: 'json' | 'final', field?: string) =>
    linkOptions({
      to: '/$teamSlug/container-configurations/$configId',
      params: { teamSlug, configId },
      search: { view },
      hash: field,
    }),
}

export type ComposerSection = 'containers' | 'environment' | 'not-kept'
export type VersionSection = 'images' | 'deployments' | 'reorder'
export type NodeSection = 'containers' | 'deployments' | 'images' | 'machines' | 'events'
export type AuditLogFilters = {
  skip?: number
  take?: number
  from?: string
  to?: string
  filter?: string
  accepted?: 'true' | 'false'
}
export type DeploymentFilters = {
  skip?: number
  take?: number
  nodeId?: string
  status?: 'preparing' | 'in-progress' | 'successful' | 'failed' | 'obsolete'
  filter?: string
}
