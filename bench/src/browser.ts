import { existsSync } from 'node:fs'
import { chromium, type Page } from '@playwright/test'

const executables = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser']

/** A page of Chromium with a signed-in user. */
export async function openBrowser(
  url: string,
  user: { email: string; password: string },
): Promise<{ page: Page; close: () => Promise<void> }> {
  const executablePath = process.env.CRUX_BROWSER ?? executables.find((path) => existsSync(path))
  const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] })
  const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, reducedMotion: 'reduce' })
  await page.goto(`${url}/auth/login`)
  await page.getByLabel('E-mail').fill(user.email)
  await page.getByLabel('Password', { exact: true }).fill(user.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL((address) => !address.pathname.startsWith('/auth/'))
  return { page, close: () => browser.close() }
}

type Painted = { rowsMs: number; detailsMs: number }

/**
 * Clicks on an image of a registry.
 *
 * @returns the milliseconds from the click until the rows of its tags are painted, and until the first of them has its details
 */
export const measurePaint = (page: Page, image: string): Promise<Painted> =>
  page.evaluate<Painted>(`(${measureInPage})(${JSON.stringify(image)})`)

/** A text, because this workspace has no types of the DOM. */
const measureInPage = `(name) => new Promise((resolve, reject) => {
  const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === name)
  if (!button) return reject(new Error('the page has no button ' + name))
  let rowsMs
  const start = performance.now()
  const look = () => {
    const first = document.querySelector('ul[aria-label="Tags"] li')
    const hasDetails = Boolean(first?.querySelector('time'))
    // What exists in this frame is painted when the task after it runs.
    setTimeout(() => {
      const now = performance.now() - start
      if (first) rowsMs ??= now
      if (hasDetails) resolve({ rowsMs, detailsMs: now })
    })
    if (!hasDetails) requestAnimationFrame(look)
  }
  button.click()
  requestAnimationFrame(look)
})`
