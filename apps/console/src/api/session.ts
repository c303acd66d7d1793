import i18n from 'i18next'
import { confirm } from '../components/confirm.tsx'
import { isStatus } from './errors.ts'

/** Where a person goes to sign in and come back to the page they were on. */
export const loginAddress = (returnTo: string): string =>
  safeReturn(returnTo) === '/' ? '/auth/login' : `/auth/login?return_to=${encodeURIComponent(returnTo)}`

/** A call said that nobody is signed in any more: leave for the login page. True when it did. */
export function sessionLost(error: unknown): boolean {
  if (!isStatus(error, 401) || error.error === 'registryUnauthorized') return false
  if (location.pathname.startsWith('/auth/') && !location.pathname.startsWith('/auth/settings')) return false
  leaveForLogin()
  return true
}

/** Forms with text that nobody has yet but the page. */
const unsaved = new Set<symbol>()
/** Which of them have been told: once is enough for what the page asks by itself. */
let handled: ReadonlySet<symbol> = new Set()

/** While a form holds such text, the end of the session does not take it along. Returns how to end that. */
export function holdsUnsaved(): () => void {
  const form = Symbol('form')
  unsaved.add(form)
  return () => void unsaved.delete(form)
}

/** Nobody is signed in any more: to the login page, or where a form would be lost with what was typed, a word about it. */
export function leaveForLogin(): void {
  const address = loginAddress(location.pathname + location.search + location.hash)
  // A whole load, not a navigation: nothing of the former session may stay in memory.
  if (unsaved.size === 0) {
    location.assign(address)
    return
  }
  if ([...unsaved].every((form) => handled.has(form))) return
  handled = new Set(unsaved)
  void confirm({
    title: i18n.t('signedOut.title'),
    text: i18n.t('signedOut.text'),
    action: i18n.t('signedOut.action'),
  }).then((yes) => yes && window.open(loginAddress('/'), '_blank', 'noopener'))
}

/** The person sends a form: if that finds no session, it is said again. */
export const sayAgain = () => {
  handled = new Set()
}

/** Only addresses of this console may be returned to: a path, never another host. */
export function safeReturn(address: string | undefined): string {
  if (!address?.startsWith('/') || address.startsWith('//') || address.includes('\\')) return '/'
  return address.startsWith('/auth/') && !address.startsWith('/auth/settings') ? '/' : address
}
