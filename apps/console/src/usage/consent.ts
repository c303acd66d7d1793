import { valueAt } from '../api/unknown-data.ts'

const prefix = 'crux-usage:'

/** A consent counts for one user in one browser. It is stored nowhere else, so that withdrawing it deletes it. */
export function hasConsent(userId: string): boolean {
  try {
    return !isTrackingRefused() && localStorage.getItem(prefix + userId) === 'yes'
  } catch {
    return false
  }
}

export function storeConsent(userId: string, consent: boolean): void {
  try {
    if (consent) localStorage.setItem(prefix + userId, 'yes')
    else localStorage.removeItem(prefix + userId)
  } catch {
    // A browser that stores nothing keeps no consent either.
  }
}

/** Whether any user of this browser consented. Nothing of the usage statistics is loaded before. */
export function hasAnyConsent(): boolean {
  try {
    return !isTrackingRefused() && Object.keys(localStorage).some((key) => key.startsWith(prefix))
  } catch {
    return false
  }
}

/** The browser asks every site not to track its user: Global Privacy Control, or Do Not Track. */
export function isTrackingRefused(): boolean {
  return valueAt(navigator, 'globalPrivacyControl') === true || navigator.doNotTrack === '1'
}
