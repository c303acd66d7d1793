const prefix = 'crux-composer:'

/**
 * Drafts of the composer, one per user and browser tab. They may hold passwords of `.env` files, so they are never sent anywhere and are deleted at
 * the sign-out.
 */
export const readComposerDraft = (userId: string): string | null => {
  try {
    return sessionStorage.getItem(prefix + userId)
  } catch {
    return null
  }
}

/** @returns false if the browser has no room for it, or stores nothing */
export function writeComposerDraft(userId: string, draft: string): boolean {
  try {
    sessionStorage.setItem(prefix + userId, draft)
    return true
  } catch {
    return false
  }
}

export function deleteComposerDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // A blocked storage holds no drafts.
  }
}
