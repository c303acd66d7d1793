import type { ResponseInput } from '@crux/contract'
import type { Health } from '@crux/service-kit'
import { auditLogRoutes } from './audit-log/index.ts'
import { authRoutes } from './auth/index.ts'
import { configBundleRoutes } from './config-bundles/index.ts'
import { containerConfigurationChannels, containerConfigurationRoutes } from './container-configurations/index.ts'
import { containerChannels, containerRoutes } from './containers/index.ts'
import type { App } from './context.ts'
import { dashboardRoutes } from './dashboard/index.ts'
import { deploymentChannels, deploymentRoutes } from './deployments/index.ts'
import type { Following } from './following/index.ts'
import { freezeWindowRoutes } from './freeze-windows/index.ts'
import type { Handlers } from './http/index.ts'
import { createIdentityFlows } from './identity/index.ts'
import { imageRoutes, selectImages, versionChannels } from './images/index.ts'
import { importRoutes } from './imports/index.ts'
import type { ChannelHandlers } from './live/index.ts'
import { mailRoutes } from './mails/index.ts'
import { type LocalAgents, nodeChannels, nodeRoutes } from './nodes/index.ts'
import { notificationRoutes, type Sender } from './notifications/index.ts'
import { packageRoutes } from './packages/index.ts'
import { pipelineChannels, pipelineRoutes } from './pipelines/index.ts'
import { prefixDataRoutes } from './prefix-data/index.ts'
import { projectRoutes } from './projects/index.ts'
import { type Browser, registryChannels, registryRoutes } from './registries/index.ts'
import { runImageRoutes } from './run-image/index.ts'
import { serviceAccountRoutes } from './service-accounts/index.ts'
import { storageRoutes } from './storages/index.ts'
import { systemHandlers } from './system/index.ts'
import { teamRoutes } from './teams/index.ts'
import { templateRoutes } from './templates/index.ts'
import { tokenRoutes } from './tokens/index.ts'
import { projectVersions, versionRoutes } from './versions/index.ts'

type Parts = {
  browser: Browser
  localAgents: LocalAgents
  following: Following
  sender: Sender
  health: Health
  status: () => Promise<ResponseInput<'system.status'>>
}

/** Every operation of the contract and its handler: a missing one does not compile. */
export function composeRoutes(app: App, parts: Parts): Handlers {
  return {
    ...systemHandlers({ ...parts, analytics: app.config.analytics }),
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
    ...projectRoutes(app, projectVersions),
    ...versionRoutes(app, selectImages),
    ...imageRoutes(app, parts.browser),
    ...importRoutes(app, parts.browser),
    ...runImageRoutes(app, parts.browser),
    ...containerConfigurationRoutes(app),
    ...configBundleRoutes(app),
    ...storageRoutes(app),
    ...deploymentRoutes(app, parts.following.switch),
    ...nodeRoutes(app, parts.localAgents),
    ...containerRoutes(app),
    ...prefixDataRoutes(app),
    ...templateRoutes(app),
    ...packageRoutes(app),
    ...freezeWindowRoutes(app),
    ...pipelineRoutes(app),
    ...notificationRoutes(app, parts.sender),
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
    ...containerChannels(app),
    ...pipelineChannels(app),
  }
}
