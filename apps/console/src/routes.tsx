import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { apiQuery, queryClient } from './api/client.ts'
import { NotFound } from './components/NotFound.tsx'
import { SkeletonPage } from './components/Skeletons.tsx'
import { requireSession, requireTeam, startPage } from './entry.ts'
import { CrashPage } from './frame/CrashPage.tsx'
import { page } from './loading/page.ts'
import { activityQuery, attentionQuery, latestQuery } from './pages/dashboard/dashboard-queries.ts'
import { deliveriesQuery } from './pages/notifications/deliveries.ts'
import { runsQuery } from './pages/pipelines/run-queries.ts'
import { accountRoutes, signInRoutes } from './routes-account.tsx'
import { app, bare, root } from './routes-frame.tsx'
import * as search from './routing/search.ts'

const index = createRoute({ getParentRoute: () => root, path: '/', beforeLoad: startPage })
const status = createRoute({
  getParentRoute: () => bare,
  path: '/status',
  loader: () => void queryClient.prefetchQuery(apiQuery('system.status')),
  component: page(['status'], () => import('./pages/status/StatusPage.tsx'), 'StatusPage'),
})
const notFound = createRoute({ getParentRoute: () => bare, path: '/404', component: NotFound })
const crashed = createRoute({ getParentRoute: () => bare, path: '/500', component: CrashPage })
// Only in a development build: the mode is a constant there, so a production build drops the page with the route.
const devRoutes =
  import.meta.env.MODE === 'production'
    ? []
    : [
        createRoute({
          getParentRoute: () => bare,
          path: '/dev/components',
          component: page(['log'], () => import('./dev/ComponentsPage.tsx'), 'ComponentsPage'),
        }),
      ]
const teamCreate = createRoute({
  getParentRoute: () => bare,
  path: '/teams/create',
  beforeLoad: requireSession,
  component: page(['teams'], () => import('./pages/teams/FirstTeamPage.tsx'), 'FirstTeamPage'),
})
const invitation = createRoute({
  getParentRoute: () => bare,
  path: '/teams/$teamId/invitation',
  beforeLoad: requireSession,
  component: page(['teams'], () => import('./pages/teams/InvitationPage.tsx'), 'InvitationPage'),
})

// Pages inside the frame. Those outside a team work with the current one.
const teams = createRoute({
  getParentRoute: () => app,
  path: '/teams',
  loader: () => void queryClient.prefetchQuery(apiQuery('teams.list')),
  component: page(['teams'], () => import('./pages/teams/TeamsPage.tsx'), 'TeamsPage'),
})
const teamDetails = createRoute({
  getParentRoute: () => app,
  path: '/teams/$teamId',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('teams.get', { params })),
  component: page(['teams', 'tokens'], () => import('./pages/teams/TeamPage.tsx'), 'TeamPage'),
})
const templates = createRoute({
  getParentRoute: () => app,
  path: '/templates',
  loader: () => void queryClient.prefetchQuery(apiQuery('templates.list')),
  component: page(['templates', 'projects'], () => import('./pages/templates/TemplatesPage.tsx'), 'TemplatesPage'),
})
const composer = createRoute({
  getParentRoute: () => app,
  path: '/composer',
  validateSearch: search.composerSearch,
  component: page(['composer', 'versions'], () => import('./pages/composer/ComposerPage.tsx'), 'ComposerPage'),
})

const team = createRoute({ getParentRoute: () => app, path: '/$teamSlug', beforeLoad: requireTeam })
const teamHome = createRoute({
  getParentRoute: () => team,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/$teamSlug/dashboard', params, replace: true })
  },
})
const dashboard = createRoute({
  getParentRoute: () => team,
  path: '/dashboard',
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('dashboard.get', { params }))
    void queryClient.prefetchQuery(attentionQuery(params.teamSlug))
    void queryClient.prefetchQuery(activityQuery(params.teamSlug))
    void queryClient.prefetchQuery(latestQuery(params.teamSlug))
  },
  component: page(['dashboard', 'deployments'], () => import('./pages/dashboard/DashboardPage.tsx'), 'DashboardPage'),
})
const registries = createRoute({
  getParentRoute: () => team,
  path: '/registries',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('registries.list', { params })),
  component: page(['registries'], () => import('./pages/registries/RegistriesPage.tsx'), 'RegistriesPage'),
})
const registry = createRoute({
  getParentRoute: () => team,
  path: '/registries/$registryId',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('registries.get', { params })),
  component: page(
    ['registries', 'hooks', 'tokens'],
    () => import('./pages/registries/RegistryPage.tsx'),
    'RegistryPage',
  ),
})
const configBundles = createRoute({
  getParentRoute: () => team,
  path: '/config-bundles',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('config-bundles.list', { params })),
  component: page(['bundles'], () => import('./pages/config-bundles/ConfigBundlesPage.tsx'), 'ConfigBundlesPage'),
})
const configBundle = createRoute({
  getParentRoute: () => team,
  path: '/config-bundles/$configBundleId',
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('config-bundles.get', { params }))
    void queryClient.prefetchQuery(apiQuery('config-bundles.deployments', { params }))
  },
  component: page(
    ['bundles', 'deployments'],
    () => import('./pages/config-bundles/ConfigBundlePage.tsx'),
    'ConfigBundlePage',
  ),
})
const storages = createRoute({
  getParentRoute: () => team,
  path: '/storages',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('storages.list', { params })),
  component: page(['storages'], () => import('./pages/storages/StoragesPage.tsx'), 'StoragesPage'),
})
const storage = createRoute({
  getParentRoute: () => team,
  path: '/storages/$storageId',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('storages.get', { params })),
  component: page(['storages'], () => import('./pages/storages/StoragePage.tsx'), 'StoragePage'),
})
const pipelines = createRoute({
  getParentRoute: () => team,
  path: '/pipelines',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('pipelines.list', { params })),
  component: page(['pipelines'], () => import('./pages/pipelines/PipelinesPage.tsx'), 'PipelinesPage'),
})
const pipeline = createRoute({
  getParentRoute: () => team,
  path: '/pipelines/$pipelineId',
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('pipelines.get', { params }))
    void queryClient.prefetchQuery(runsQuery(params))
  },
  component: page(['pipelines'], () => import('./pages/pipelines/PipelinePage.tsx'), 'PipelinePage'),
})
const notifications = createRoute({
  getParentRoute: () => team,
  path: '/notifications',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('notifications.list', { params })),
  component: page(['notifications'], () => import('./pages/notifications/NotificationsPage.tsx'), 'NotificationsPage'),
})
const notification = createRoute({
  getParentRoute: () => team,
  path: '/notifications/$notificationId',
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('notifications.get', { params }))
    void queryClient.prefetchQuery(deliveriesQuery(params))
  },
  component: page(['notifications'], () => import('./pages/notifications/NotificationPage.tsx'), 'NotificationPage'),
})
const projects = createRoute({
  getParentRoute: () => team,
  path: '/projects',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('projects.list', { params })),
  component: page(['projects', 'run'], () => import('./pages/projects/ProjectsPage.tsx'), 'ProjectsPage'),
})
const project = createRoute({
  getParentRoute: () => team,
  path: '/projects/$projectId',
  validateSearch: search.versionSearch,
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('projects.get', { params })),
  component: page(
    ['projects', 'versions', 'deployments'],
    () => import('./pages/projects/ProjectPage.tsx'),
    'ProjectPage',
  ),
})
const version = createRoute({
  getParentRoute: () => team,
  path: '/projects/$projectId/versions/$versionId',
  validateSearch: search.versionSearch,
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('versions.get', { params }))
    void queryClient.prefetchQuery(apiQuery('projects.get', { params }))
  },
  component: page(
    ['projects', 'versions', 'deployments'],
    () => import('./pages/versions/VersionPage.tsx'),
    'VersionPage',
  ),
})
const packages = createRoute({
  getParentRoute: () => team,
  path: '/packages',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('packages.list', { params })),
  component: page(['packages', 'deployments'], () => import('./pages/packages/PackagesPage.tsx'), 'PackagesPage'),
})
const packageDetails = createRoute({
  getParentRoute: () => team,
  path: '/packages/$packageId',
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('packages.get', { params }))
    void queryClient.prefetchQuery(apiQuery('packages.board', { params }))
  },
  component: page(['packages', 'deployments'], () => import('./pages/packages/PackagePage.tsx'), 'PackagePage'),
})
const packageEnvironment = createRoute({
  getParentRoute: () => team,
  path: '/packages/$packageId/environments/$environmentId',
  validateSearch: search.environmentSearch,
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('packages.get-environment', { params })),
  component: page(
    ['packages', 'freeze', 'deployments'],
    () => import('./pages/packages/EnvironmentPage.tsx'),
    'EnvironmentPage',
  ),
})

// Nodes, deployments and container configurations.
const nodes = createRoute({
  getParentRoute: () => team,
  path: '/nodes',
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('nodes.list', { params })),
  component: page(['nodes'], () => import('./pages/nodes/NodesPage.tsx'), 'NodesPage'),
})
const node = createRoute({
  getParentRoute: () => team,
  path: '/nodes/$nodeId',
  validateSearch: search.nodeSearch,
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('nodes.get', { params })),
  component: page(['nodes', 'deployments'], () => import('./pages/nodes/NodePage.tsx'), 'NodePage'),
})
const nodeLog = createRoute({
  getParentRoute: () => team,
  path: '/nodes/$nodeId/log',
  validateSearch: search.logSearch,
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('nodes.get', { params })),
  component: page(['nodes', 'log'], () => import('./pages/nodes/ContainerLogPage.tsx'), 'ContainerLogPage'),
})
const nodeInspect = createRoute({
  getParentRoute: () => team,
  path: '/nodes/$nodeId/inspect',
  validateSearch: search.containerSearch,
  loader: ({ params }) => void queryClient.prefetchQuery(apiQuery('nodes.get', { params })),
  component: page(['nodes'], () => import('./pages/nodes/ContainerPage.tsx'), 'ContainerPage'),
})
const deployments = createRoute({
  getParentRoute: () => team,
  path: '/deployments',
  validateSearch: search.deploymentsSearch,
  component: page(['deployments'], () => import('./pages/deployments/DeploymentsPage.tsx'), 'DeploymentsPage'),
})
const deployment = createRoute({
  getParentRoute: () => team,
  path: '/deployments/$deploymentId',
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('deployments.get', { params }))
    void queryClient.prefetchQuery(apiQuery('deployments.preview', { params }))
  },
  component: page(['deployments', 'tokens'], () => import('./pages/deployments/DeploymentPage.tsx'), 'DeploymentPage'),
})
const deploymentProgress = createRoute({
  getParentRoute: () => team,
  path: '/deployments/$deploymentId/deploy',
  validateSearch: search.progressSearch,
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('deployments.get', { params }))
    void queryClient.prefetchQuery(apiQuery('deployments.releases', { params }))
  },
  component: page(['deployments', 'log'], () => import('./pages/deployments/ProgressPage.tsx'), 'ProgressPage'),
})
// The log of a deployment is part of its progress.
const deploymentLog = createRoute({
  getParentRoute: () => team,
  path: '/deployments/$deploymentId/log',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/$teamSlug/deployments/$deploymentId/deploy', params, replace: true })
  },
})
const containerConfiguration = createRoute({
  getParentRoute: () => team,
  path: '/container-configurations/$configId',
  validateSearch: search.configurationSearch,
  loader: ({ params }) => {
    void queryClient.prefetchQuery(apiQuery('container-configurations.get', { params }))
    void queryClient.prefetchQuery(apiQuery('container-configurations.relations', { params }))
  },
  component: page(
    ['configuration'],
    () => import('./pages/container-configurations/ConfigurationPage.tsx'),
    'ConfigurationPage',
  ),
})

const auditLog = createRoute({
  getParentRoute: () => team,
  path: '/audit-log',
  validateSearch: search.auditLogSearch,
  component: page(['audit'], () => import('./pages/audit-log/AuditLogPage.tsx'), 'AuditLogPage'),
})

const tree = root.addChildren([
  index,
  bare.addChildren([...signInRoutes, status, notFound, crashed, teamCreate, invitation, ...devRoutes]),
  app.addChildren([
    ...accountRoutes,
    teams,
    teamDetails,
    templates,
    composer,
    team.addChildren([
      teamHome,
      dashboard,
      registries,
      registry,
      configBundles,
      configBundle,
      storages,
      storage,
      notifications,
      notification,
      projects,
      project,
      version,
      nodes,
      node,
      nodeLog,
      nodeInspect,
      deployments,
      deployment,
      deploymentProgress,
      deploymentLog,
      containerConfiguration,
      auditLog,
      packages,
      packageDetails,
      packageEnvironment,
      pipelines,
      pipeline,
    ]),
  ]),
])

export const router = createRouter({
  routeTree: tree,
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: CrashPage,
  defaultNotFoundComponent: NotFound,
  defaultPendingComponent: SkeletonPage,
  defaultPendingMs: 300,
  // Another project, node or team gets a new page, without open forms, choices or running actions of the previous one.
  defaultRemountDeps: ({ params }) => params,
  parseSearch: search.parseSearch,
  stringifySearch: search.stringifySearch,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
