import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@playwright/test'
import axe, { type AxeResults } from 'axe-core'

const root = fileURLToPath(new URL('../../', import.meta.url))
const directory = join(root, 'e2e/screenshots')
/** No server has this address: the files come from the test. */
const origin = 'http://components.test'
/** Of the page; it must not be in a production build. */
const heading = 'Every shared component'

let built: string
test.beforeAll(async () => {
  test.setTimeout(180_000)
  built = await mkdtemp(join(tmpdir(), 'crux-components-'))
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  execFileSync(process.execPath, [vite, 'build', '--mode', 'development', '--outDir', built, '--logLevel', 'warn'], {
    cwd: join(root, 'apps/console'),
  })
})
test.afterAll(() => rm(built, { recursive: true, force: true }))

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(js|css|html)$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))

test('a production build contains nothing of the component page, and a development build does', () => {
  const marks = [heading, '/dev/components']
  const has = (folder: string) => marks.map((mark) => listFiles(folder).some((text) => text.includes(mark)))
  expect(has(built)).toEqual([true, true])
  expect(has(join(root, 'apps/console/dist'))).toEqual([false, false])
})

for (const theme of ['light', 'dark'] as const)
  for (const width of [1440, 375])
    test(`shared components have no accessibility or layout problem in the ${theme} theme at ${width} pixels`, async ({
      page,
    }) => {
      await page.route(`${origin}/**`, (route) => {
        const { pathname } = new URL(route.request().url())
        if (/^\/(api|kratos|health)\b/.test(pathname)) return route.fulfill({ status: 503, json: {} })
        return route.fulfill({ path: join(built, /\.\w+$/.test(pathname) ? pathname : 'index.html') })
      })
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.goto(`${origin}/dev/components`)
      await expect(page.getByRole('heading', { name: heading })).toBeVisible()
      await expect(page.locator('html')).toHaveAttribute('data-theme', theme)
      await page.evaluate('document.fonts.ready')
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      // Editors and long lists draw only what is inside the window.
      const height = await page.evaluate<number>('document.documentElement.scrollHeight')
      await page.setViewportSize({ width, height })
      await page.screenshot({
        path: join(directory, `components-${theme}-${width}.png`),
        fullPage: true,
        animations: 'disabled',
      })
      await page.evaluate(axe.source)
      // The page shows parts of several pages, so it has several main headings.
      const options = JSON.stringify({ runOnly: ['wcag2a', 'wcag2aa'], resultTypes: ['violations'], preload: false })
      const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`)
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`)).toEqual([])
    })
