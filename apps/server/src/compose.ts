import type { ResponseInput } from '@crux/contract'
import type { Health } from '@crux/service-kit'
import { auditLogRoutes } from './audit-log/routes.ts'
import { authRoutes } from './auth/routes.ts'
import { configBundleRoutes } from './config-bundles/routes.ts'
import { containerConfigurationChannels } from './container-configurations/channel.ts'
import { containerConfigurationRoutes } from './container-configurations/routes.ts'
import { containerRoutes } from './containers/routes.ts'
import type { App } from './context.ts'
import { dashboardRoutes } from './dashboard/dashboard.ts'
import { deploymentChannels } from './deployments/channel.ts'
import { deploymentRoutes } from './deployments/routes.ts'
import type { Handlers } from './http/handlers.ts'
import { createIdentityFlows } from './identity/flows.ts'
import { versionChannels } from './images/channel.ts'
import { imageRoutes } from './images/routes.ts'
import type { ChannelHandlers } from './live/handlers.ts'
import { mailRoutes } from './mails/routes.ts'
import { nodeChannels } from './nodes/channel.ts'
import type { LocalAgents } from './nodes/local-agents.ts'
import { nodeRoutes } from './nodes/routes.ts'
import { projectRoutes } from './projects/routes.ts'
import type { Browser } from './registries/browse.ts'
import { registryChannels } from './registries/channel.ts'
import { registryRoutes } from './registries/routes.ts'
import { serviceAccountRoutes } from './service-accounts/routes.ts'
import { storageRoutes } from './storages/routes.ts'
import { systemHandlers } from './system/routes.ts'
import { teamRoutes } from './teams/routes.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { versionRoutes } from './versions/routes.ts'

type Parts = {
  browser: Browser
  localAgents: LocalAgents
  health: Health
  status: () => Promise<ResponseInput<'system.status'>>
}

/** Every operation of the contract and its handler: a missing one does not compile. */
export function composeRoutes(app: App, parts: Parts): Handlers {
  return {
    ...systemHandlers(parts),
    ...authRoutes(
      app,
      createIdentityFlows({ publicUrl: app.config.identityPublicUrl, proxySecret: app.config.identityProxySecret }),
    ),
    ...teamRoutes(app, parts.localAgents),
    ...mailRoutes(app),
    ...tokenRoutes(app),
    ...serviceAccountRoutes(app),
    ...auditLogRoutes(app),
    ...dashboardRoutes(app),
    ...registryRoutes(app),
    ...projectRoutes(app),
    ...versionRoutes(app),
    ...imageRoutes(app, parts.browser),
    ...containerConfigurationRoutes(app),
    ...configBundleRoutes(app),
    ...storageRoutes(app),
    ...deploymentRoutes(app),
    ...nodeRoutes(app, parts.localAgents),
    ...containerRoutes(app),
  }
}

/** Every live channel and its handler. */
export function composeChannels(app: App, parts: Pick<Parts, 'browser'>): ChannelHandlers {
  return {
    ...registryChannels(app, parts.browser),
    ...versionChannels(app, parts.browser),
    ...containerConfigurationChannels(app),
    ...deploymentChannels(app),
    ...nodeChannels(app),
  }
}
