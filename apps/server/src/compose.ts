import type { Answer, Channels } from '@crux/contract'
import type { Health } from '@crux/service-kit'
import { authRoutes } from './auth/routes.ts'
import { containerConfigurationChannels } from './container-configurations/channel.ts'
import { containerConfigurationRoutes } from './container-configurations/routes.ts'
import { containerRoutes } from './containers/routes.ts'
import type { App } from './context.ts'
import { deploymentChannels } from './deployments/channel.ts'
import { deploymentRoutes } from './deployments/routes.ts'
import type { Handlers } from './http/handlers.ts'
import { createIdentityFlows } from './identity/flows.ts'
import type { ChannelHandlers } from './live/handlers.ts'
import { nodeChannels } from './nodes/channel.ts'
import type { LocalAgents } from './nodes/local-agents.ts'
import { nodeRoutes } from './nodes/routes.ts'
import { systemHandlers } from './system/routes.ts'
import { teamRoutes } from './teams/routes.ts'

type Parts = { localAgents: LocalAgents; health: Health; status: () => Promise<Answer<'system.status'>> }

/** Every operation of the contract and who answers it: a missing one does not compile. */
export function composeRoutes(app: App, parts: Parts): Handlers {
  return {
    ...systemHandlers(parts),
    ...authRoutes(app, createIdentityFlows(app.config.identityPublicUrl)),
    ...teamRoutes(app),
    ...containerConfigurationRoutes(app),
    ...deploymentRoutes(app),
    ...nodeRoutes(app, parts.localAgents),
    ...containerRoutes(app),
  } as Handlers
}

/** Every live channel and who serves it. */
export function composeChannels(app: App): ChannelHandlers {
  return {
    ...containerConfigurationChannels(app),
    ...deploymentChannels(app),
    ...nodeChannels(app),
  } as ChannelHandlers<keyof Channels>
}
