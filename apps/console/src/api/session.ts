import { isStatus } from './errors.ts'

/** Where a person goes to sign in and come back to the page they were on. */
export const loginAddress = (returnTo: string): string =>
  safeReturn(returnTo) === '/' ? '/auth/login' : `/auth/login?return_to=${encodeURIComponent(returnTo)}`

/** A call said that nobody is signed in any more: leave for the login page. True when it did. */
export function sessionLost(error: unknown): boolean {
  if (!isStatus(error, 401) || error.error === 'registryUnauthorized') return false
  if (location.pathname.startsWith('/auth/') && !location.pathname.startsWith('/auth/settings')) return false
  // A whole load, not a navigation: nothing of the former session may stay in memory.
  location.assign(loginAddress(location.pathname + location.search + location.hash))
  return true
}

/** Only addresses of this console may be returned to: a path, never another host. */
export function safeReturn(address: string | undefined): string {
  if (!address?.startsWith('/') || address.startsWith('//') || address.includes('\\')) return '/'
  return address.startsWith('/auth/') && !address.startsWith('/auth/settings') ? '/' : address
}
