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
  'service-accounts.list': ({ caller }) => listAccounts(app, caller),
  'service-accounts.create': ({ caller, body }) => createAccount(app, caller, body),
  'service-accounts.update': ({ caller, params, body }) => changeAccount(app, caller, params.serviceAccountId, body),
  'service-accounts.delete': ({ caller, params }) => deleteAccount(app, caller, params.serviceAccountId),
  'service-accounts.create-token': ({ caller, params, body }) =>
    createAccountToken(app, caller, params.serviceAccountId, body),
  'service-accounts.delete-token': ({ caller, params }) => deleteAccountToken(app, caller, params),
})
