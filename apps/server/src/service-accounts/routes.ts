import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import {
  changeAccount,
  createAccount,
  createAccountToken,
  deleteAccount,
  deleteAccountToken,
  listAccounts,
} from './actions.ts'

type Operations = Extract<keyof Handlers, `service-accounts.${string}`>

export const serviceAccountRoutes = (app: App): Handlers<Operations> => ({
  'service-accounts.list': ({ team }) => listAccounts(app, team),
  'service-accounts.create': ({ team, actor, body }) => createAccount(app, { team, actor }, body),
  'service-accounts.update': async ({ team, actor, params, body }) =>
    void (await changeAccount(app, { team, actor }, params.serviceAccountId, body)),
  'service-accounts.delete': async ({ team, actor, params }) =>
    void (await deleteAccount(app, { team, actor }, params.serviceAccountId)),
  'service-accounts.create-token': ({ team, actor, params, body }) =>
    createAccountToken(app, { team, actor }, params.serviceAccountId, body),
  'service-accounts.delete-token': async ({ team, params }) => void (await deleteAccountToken(app, team, params)),
})
