import type { App } from '../context.ts'
import type { Handlers, Input } from '../http/index.ts'
import { createToken, deleteToken, getToken, listTokens } from './actions.ts'
import type { Requester } from './announce.ts'

/** The client of a request, for the security log. */
export function toRequester({ address, headers }: Pick<Input<'tokens.create'>, 'address' | 'headers'>): Requester {
  const userAgent = headers['user-agent']
  return { address, userAgent: (Array.isArray(userAgent) ? userAgent[0] : userAgent) ?? '' }
}

type Operations = Extract<keyof Handlers, `tokens.${string}`>

export const tokenRoutes = (app: App): Handlers<Operations> => ({
  'tokens.list': ({ actor }) => listTokens(app, actor),
  'tokens.get': ({ actor, params }) => getToken(app, actor, params.tokenId),
  'tokens.create': ({ actor, body, ...request }) => createToken(app, actor, toRequester(request), body),
  'tokens.delete': ({ actor, params, ...request }) => deleteToken(app, actor, toRequester(request), params.tokenId),
})
