import type { BrowserContext } from '@playwright/test'
import { signIn } from './console.ts'
import { test as base } from './test-system.ts'

export { expect } from './test-system.ts'

type Session = Awaited<ReturnType<BrowserContext['storageState']>>

/** For tests that start signed out: `test.use({ storageState: signedOut })`. */
export const signedOut: Session = { cookies: [], origins: [] }

/** Journeys of a signed-in user: each page starts with the session of the user of the system. */
export const test = base.extend<Record<never, never>, { session: Session }>({
  session: [
    async ({ browser, testSystem }, use) => {
      const context = await browser.newContext()
      await signIn(await context.newPage(), testSystem.system.url, testSystem.testEnvironment.user)
      const session = await context.storageState()
      await context.close()
      await use(session)
    },
    { scope: 'worker' },
  ],
  storageState: ({ session }, use) => use(session),
  baseURL: ({ testSystem }, use) => use(testSystem.system.url),
})
