import { limits } from '@crux/contract'
import type { BrowserContext } from '@playwright/test'
import { signIn } from './console.ts'
import { test as base } from './test-system.ts'

export { expect } from './test-system.ts'

type Session = Awaited<ReturnType<BrowserContext['storageState']>>

/** For tests that start signed out: `test.use({ storageState: signedOut })`. */
export const signedOut: Session = { cookies: [], origins: [] }

/**
 * Journeys of a signed-in user: each page starts with a session of the user of the system. The user signs in again now and
 * then, because tokens are created only by sessions of a recent sign-in.
 */
export const test = base.extend<{ session: Session }, { getSession: () => Promise<Session> }>({
  getSession: [
    async ({ browser, testSystem }, use) => {
      let current: { session: Session; until: number } | undefined
      await use(async () => {
        if (current && Date.now() < current.until) return current.session
        const context = await browser.newContext()
        await signIn(await context.newPage(), testSystem.system.url, testSystem.testEnvironment.user)
        current = { session: await context.storageState(), until: Date.now() + limits.recentSignInMs / 2 }
        await context.close()
        return current.session
      })
    },
    { scope: 'worker' },
  ],
  session: async ({ getSession }, use) => use(await getSession()),
  storageState: ({ session }, use) => use(session),
  baseURL: ({ testSystem }, use) => use(testSystem.system.url),
})
