import { flushSync } from 'react-dom'
import { reauthenticationAddress } from '../api/reauthentication.ts'

const key = 'crux-token-draft'
/** A form that is older than this is not restored. */
const keptMs = 15 * 60_000

export type TokenDraft = { name: string; expiry: '30' | '60' | '90' | '0'; scope: 'read' | 'deploy' | 'full' }
type Kept = { of: string; at: number; values: TokenDraft }

/** What was typed into the form before the user signed in again. `of` is the owner of the new token. */
export function readTokenDraft(of: string): TokenDraft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Kept | null
    return kept?.of === of && Date.now() - kept.at < keptMs ? kept.values : undefined
  } catch {
    return undefined
  }
}

export const dropTokenDraft = () => sessionStorage.removeItem(key)

/**
 * Leaves for the sign-in page, which leads back to this address.
 *
 * @param markSaved marks the form as saved, so that the page can be left without a confirmation
 */
export function signInAgain(of: string, values: TokenDraft, markSaved: () => void): void {
  sessionStorage.setItem(key, JSON.stringify({ of, at: Date.now(), values } satisfies Kept))
  flushSync(markSaved)
  location.assign(reauthenticationAddress(location.pathname + location.search + location.hash))
}
