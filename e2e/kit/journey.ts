import type { BrowserContext } from '@playwright/test'
import { signIn } from './console.ts'
import { test as onStage } from './stage.ts'

export { expect } from './stage.ts'

type Session = Awaited<ReturnType<BrowserContext['storageState']>>

/** For tests that start signed out: `test.use({ storageState: signedOut })`. */
export const signedOut: Session = { cookies: [], origins: [] }

/** Journeys of a signed-in user: each page starts with the session of the user of the system. */
export const test = onStage.extend<Record<never, never>, { session: Session }>({
  session: [
    async ({ browser, stage }, use) => {
      const context = await browser.newContext()
      await signIn(await context.newPage(), stage.system.url, stage.testEnvironment.person)
      const session = await context.storageState()
      await context.close()
      await use(session)
    },
    { scope: 'worker' },
  ],
  storageState: ({ session }, use) => use(session),
  baseURL: ({ stage }, use) => use(stage.system.url),
})
