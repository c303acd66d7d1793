import type { App } from '../context.ts'
import type { Handlers } from '../http/handlers.ts'
import { createToken, deleteToken, getToken, listTokens } from './actions.ts'

type Operations = Extract<keyof Handlers, `tokens.${string}`>

export const tokenRoutes = (app: App): Handlers<Operations> => ({
  'tokens.list': ({ actor }) => listTokens(app, actor),
  'tokens.get': ({ actor, params }) => getToken(app, actor, params.tokenId),
  'tokens.create': ({ actor, body }) => createToken(app, actor, body),
  'tokens.delete': async ({ actor, params }) => void (await deleteToken(app, actor, params.tokenId)),
})
