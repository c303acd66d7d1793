import i18n from 'i18next'
import { confirm } from '../components/confirm.tsx'
import { isStatus } from '../errors/describe-error.ts'

/** The sign-in address that returns to the current page. */
export const loginAddress = (returnTo: string): string =>
  safeReturn(returnTo) === '/' ? '/auth/login' : `/auth/login?return_to=${encodeURIComponent(returnTo)}`

/** Goes to the login page if a call failed because the session ended. Returns true in that case. */
export function sessionLost(error: unknown): boolean {
  if (!isStatus(error, 401) || error.error === 'registryUnauthorized') return false
  if (location.pathname.startsWith('/auth/') && !location.pathname.startsWith('/auth/settings')) return false
  leaveForLogin()
  return true
}

/** Forms with text that is not saved yet. */
const unsaved = new Set<symbol>()
/** Forms that have already shown the notice: background requests of the page show it only once. */
let handled: ReadonlySet<symbol> = new Set()

/** Keeps the page when the session ends, so that the text of the form is not lost. Returns a function that ends this. */
export function registerUnsavedForm(): () => void {
  const form = Symbol('form')
  unsaved.add(form)
  return () => void unsaved.delete(form)
}

/** Handles the end of the session: goes to the login page, or shows a notice if a form has unsaved text. */
export function leaveForLogin(): void {
  const address = loginAddress(location.pathname + location.search + location.hash)
  // A whole load, not a navigation: nothing of the previous session may stay in memory.
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

/** Called when a form is submitted, so that a missing session shows the notice again. */
export const resetSignedOutNotice = () => {
  handled = new Set()
}

/** Only addresses of this console may be returned to: a path, never another host. */
export function safeReturn(address: string | undefined): string {
  if (!address?.startsWith('/') || address.startsWith('//') || address.includes('\\')) return '/'
  return address.startsWith('/auth/') && !address.startsWith('/auth/settings') ? '/' : address
}
