import { type Browser, type BrowserContext, expect, type Page, type Request } from '@playwright/test'

const triesMax = 8
const startMs = 10_000
/** Asked by `evaluate`: what waits inside of the page evaluates texts there, which its content security policy forbids. */
const started = "document.documentElement.dataset.started === 'true'"
const known = new WeakSet<Page>()
/** The browser's own error page may arrive a moment after the failure, and then interrupts the next try. */
const isChange = (text = '') =>
  /net::ERR_NETWORK_CHANGED|interrupted by another navigation to "chrome-error:/.test(text)

/**
 * Each network and each container of a deployment changes the network of this machine, and Chromium then aborts what it is loading.
 * Whoever gets the browser's error page loads again, and so does `goto` here; nothing else is tried twice. Where the page came and some
 * of its scripts did not, the console asks for them again by itself (start.js): `goto` waits until it has.
 */
export function steady(context: BrowserContext): void {
  for (const page of context.pages()) steadyPage(page)
  context.on('page', steadyPage)
}

/** Also the contexts that a test makes for itself. */
export function steadyBrowser(browser: Browser): void {
  const { newContext } = browser
  browser.newContext = async (options) => {
    const context = await newContext.call(browser, options)
    steady(context)
    return context
  }
}

function steadyPage(page: Page): void {
  if (known.has(page)) return
  known.add(page)
  const { goto } = page
  page.goto = async (url, options) => {
    for (let tries = 1; ; tries++) {
      let cut = false
      const failed = (request: Request) => {
        if (request.resourceType() === 'script' && isChange(request.failure()?.errorText)) cut = true
      }
      page.on('requestfailed', failed)
      try {
        const answer = await goto.call(page, url, options)
        // Loading anew takes the page away that is just being asked.
        if (cut) await expect.poll(() => page.evaluate(started).catch(() => false), { timeout: startMs }).toBe(true)
        return answer
      } catch (error) {
        if (tries === triesMax || !isChange(String(error))) throw error
        await page.waitForTimeout(50 * tries)
      } finally {
        page.off('requestfailed', failed)
      }
    }
  }
}
