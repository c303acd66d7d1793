import { createRoute, redirect } from '@tanstack/react-router'
import { apiQuery, queryClient } from './api/client.ts'
import { page } from './loading/page.ts'
import { app, bare } from './routes-frame.tsx'
import * as search from './routing/search.ts'

// Signing in and up, recovery, verification.
const login = createRoute({
  getParentRoute: () => bare,
  path: '/auth/login',
  validateSearch: search.loginSearch,
  component: page(['auth'], () => import('./pages/auth/LoginPage.tsx'), 'LoginPage'),
})
const register = createRoute({
  getParentRoute: () => bare,
  path: '/auth/register',
  validateSearch: search.registerSearch,
  component: page(['auth'], () => import('./pages/auth/RegisterPage.tsx'), 'RegisterPage'),
})
const verify = createRoute({
  getParentRoute: () => bare,
  path: '/auth/verify',
  validateSearch: search.verifySearch,
  component: page(['auth'], () => import('./pages/auth/VerifyPage.tsx'), 'VerifyPage'),
})
const logout = createRoute({
  getParentRoute: () => bare,
  path: '/auth/logout',
  component: page(['auth'], () => import('./pages/auth/LogoutPage.tsx'), 'LogoutPage'),
})
const recovery = createRoute({
  getParentRoute: () => bare,
  path: '/auth/recovery',
  validateSearch: search.recoverySearch,
  component: page(['auth'], () => import('./pages/auth/RecoveryPage.tsx'), 'RecoveryPage'),
})
const recoveryExpired = createRoute({
  getParentRoute: () => bare,
  path: '/auth/recovery/expired',
  component: page(['auth'], () => import('./pages/auth/RecoveryExpiredPage.tsx'), 'RecoveryExpiredPage'),
})
const registerOidc = createRoute({
  getParentRoute: () => bare,
  path: '/auth/register-oidc',
  validateSearch: search.registerOidcSearch,
  component: page(['auth'], () => import('./pages/auth/RegisterOidcPage.tsx'), 'RegisterOidcPage'),
})
const createAccount = createRoute({
  getParentRoute: () => bare,
  path: '/auth/create-account',
  validateSearch: search.accountSearch,
  component: page(['auth'], () => import('./pages/auth/CreateAccountPage.tsx'), 'CreateAccountPage'),
})
const newPassword = createRoute({
  getParentRoute: () => bare,
  path: '/auth/settings/new-password',
  component: page(['auth'], () => import('./pages/auth/NewPasswordPage.tsx'), 'NewPasswordPage'),
})
const mails = createRoute({
  getParentRoute: () => bare,
  path: '/mails',
  component: page(['auth'], () => import('./pages/auth/MailsPage.tsx'), 'MailsPage'),
})
// Addresses that older mails and bookmarks use.
const oldRecovered = createRoute({
  getParentRoute: () => bare,
  path: '/auth/settings/recovered',
  beforeLoad: () => {
    throw redirect({ to: '/auth/settings/new-password' })
  },
})
const redirectToRegister = <const P extends string>(path: P) =>
  createRoute({
    getParentRoute: () => bare,
    path,
    beforeLoad: () => {
      throw redirect({ to: '/auth/register' })
    },
  })
const errorPage = createRoute({
  getParentRoute: () => bare,
  path: '/error',
  validateSearch: search.errorSearch,
  component: page(['auth'], () => import('./pages/auth/FlowErrorPage.tsx'), 'FlowErrorPage'),
})

// One's own account.
const profile = createRoute({
  getParentRoute: () => app,
  path: '/auth/settings',
  validateSearch: search.settingsSearch,
  // The identity service redirects browsers here with the flow that they started.
  beforeLoad: (at: { search: { flow?: string } }) => {
    if (at.search.flow)
      throw redirect({ to: '/auth/settings/sign-in', search: { flow: at.search.flow }, replace: true })
  },
  component: page(['account'], () => import('./pages/account/ProfilePage.tsx'), 'ProfilePage'),
})
const editProfile = createRoute({
  getParentRoute: () => app,
  path: '/auth/settings/edit-profile',
  component: page(['account', 'auth'], () => import('./pages/account/EditProfilePage.tsx'), 'EditProfilePage'),
})
const changePassword = createRoute({
  getParentRoute: () => app,
  path: '/auth/settings/change-password',
  component: page(['account', 'auth'], () => import('./pages/account/ChangePasswordPage.tsx'), 'ChangePasswordPage'),
})
const signInMethods = createRoute({
  getParentRoute: () => app,
  path: '/auth/settings/sign-in',
  validateSearch: search.settingsSearch,
  component: page(['account', 'auth'], () => import('./pages/account/SignInMethodsPage.tsx'), 'SignInMethodsPage'),
})
const secondFactors = createRoute({
  getParentRoute: () => app,
  path: '/auth/settings/second-factors',
  component: page(['account', 'auth'], () => import('./pages/account/SecondFactorsPage.tsx'), 'SecondFactorsPage'),
})
const sessions = createRoute({
  getParentRoute: () => app,
  path: '/auth/settings/sessions',
  component: page(['account'], () => import('./pages/account/SessionsPage.tsx'), 'SessionsPage'),
})
const securityLog = createRoute({
  getParentRoute: () => app,
  path: '/auth/settings/security-log',
  component: page(['account'], () => import('./pages/account/SecurityLogPage.tsx'), 'SecurityLogPage'),
})
const tokens = createRoute({
  getParentRoute: () => app,
  path: '/auth/settings/tokens',
  loader: () => void queryClient.prefetchQuery(apiQuery('tokens.list')),
  component: page(['tokens', 'account'], () => import('./pages/account/TokensPage.tsx'), 'TokensPage'),
})

export const signInRoutes = [
  login,
  register,
  verify,
  logout,
  recovery,
  recoveryExpired,
  registerOidc,
  createAccount,
  newPassword,
  mails,
  oldRecovered,
  redirectToRegister('/auth/registration'),
  redirectToRegister('/auth/auth/register'),
  errorPage,
] as const
export const accountRoutes = [
  profile,
  editProfile,
  changePassword,
  signInMethods,
  secondFactors,
  sessions,
  securityLog,
  tokens,
] as const
