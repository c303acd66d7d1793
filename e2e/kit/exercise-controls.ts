import type { ElementHandle, Locator, Page } from '@playwright/test'
import { expect } from './test-system.ts'

/** Only enabled controls are exercised. Of the same button in many rows, the first ones are sufficient. */
const enabled = ':visible:not([aria-disabled="true"]):not([disabled])'
const controls = `main button${enabled}:not(thead button):not([role="radio"]):not([role="checkbox"]):not([aria-pressed])`
const buttonsPerName = 2
const menusPerName = 4
const calmMin = 6
const crawledFile = Buffer.from('CRAWLED=1\n')

/** Navigates with the router of the console, which keeps the document and the loaded data. */
export async function goTo(page: Page, path: string): Promise<unknown> {
  // A control may have reloaded the document.
  const isThere = page.waitForFunction('window.__TSR_ROUTER__ !== undefined', undefined, { timeout: 5_000 })
  if (!(await isThere.catch(() => null))) return load(page, path)
  return page.evaluate(`window.__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} })`)
}

/** The load is repeated, because containers that start or stop change the network of the machine, which makes the browser abort requests. */
const load = (page: Page, path: string): Promise<void> =>
  expect(async () => {
    await page.goto(path, { waitUntil: 'networkidle' })
    await expect(page.locator('main')).toContainText(/\w/, { timeout: 5_000 })
  }).toPass({ timeout: 40_000 })

/** Presses every enabled button of a page and every entry of its menus, submits every form and confirms every dialog that opens. */
export async function exerciseControls(page: Page, path: string, actions: ReadonlySet<string>): Promise<void> {
  // Parts of a page load their code when they are first shown.
  await load(page, path)
  await arrive(page, path)
  const counts = new Map<string, number>()
  for (const { name, menu } of await listControls(page)) {
    const times = (counts.get(name) ?? 0) + 1
    counts.set(name, times)
    if (times > (menu ? menusPerName : buttonsPerName)) continue
    const press = async (): Promise<boolean> => {
      await arrive(page, path)
      // Controls are found by name, because positions change while rows are loaded or removed, and an earlier press may have removed the control.
      const control = await findControl(page, name, times)
      if (!control) return false
      try {
        await control.click({ timeout: 5_000 })
      } catch (error) {
        // The page may remove the control while it is being pressed. One that still exists must be pressable.
        if (!(await findControl(page, name, times))) return false
        throw error
      }
      await somethingHappens(page, path, actions)
      return true
    }
    if (!(await press())) continue
    const entries = page.locator('[role="menuitem"]:visible:not([data-disabled])')
    const count = await entries.count()
    if (count === 0) await sendWhatOpened(page)
    for (let entry = 0; entry < count; entry++) {
      if (entry > 0 && !(await press())) break
      await entries.nth(entry).click()
      await expect(page.getByRole('menu')).toHaveCount(0)
      await somethingHappens(page, path, actions)
      await sendWhatOpened(page)
    }
  }
}

const listControls = (page: Page) =>
  page.locator(controls).evaluateAll((all) =>
    all.map((one) => ({
      name: one.ariaLabel || one.textContent || '',
      menu: one.getAttribute('aria-haspopup') === 'menu',
    })),
  )

/** The control itself, not its position, which may belong to another one a moment later. */
async function findControl(page: Page, name: string, times: number): Promise<ElementHandle | undefined> {
  for (;;) {
    const position = (await listControls(page)).flatMap((one, index) => (one.name === name ? [index] : []))[times - 1]
    if (position === undefined) return undefined
    const [control] = await page.locator(controls).nth(position).elementHandles()
    if ((await control?.evaluate((one) => one.ariaLabel || one.textContent || '')) === name) return control
  }
}

/** Waits until a layer opens (its code may have to be loaded first), another page is shown, a request is sent, or nothing changes any more. */
async function somethingHappens(page: Page, path: string, actions: ReadonlySet<string>) {
  const before = actions.size
  const seen = async () =>
    actions.size > before ||
    toPlace(page) !== path ||
    (await page.locator('[role="dialog"], [role="menu"]').count()) > 0
  const part = page.locator('[data-loading-part]')
  for (let calm = 0; calm < calmMin && !(await seen()); calm++) {
    if ((await part.count()) > 0) calm = 0
    // A browser without visible changes may never produce a frame, so a timeout applies too.
    await page
      .evaluate('new Promise((done) => requestIdleCallback(() => setTimeout(done, 16), { timeout: 500 }))')
      .catch(() => null)
  }
}

const toPlace = (page: Page): string => {
  const { pathname, search } = new URL(page.url())
  return pathname + search
}

async function arrive(page: Page, path: string) {
  await closeAll(page)
  if (toPlace(page) !== path) await goTo(page, path)
  await expect(page.locator('.skeleton')).toHaveCount(0)
  await expect(page.locator('main')).toContainText(/\w/)
}

/** Fills a form with valid values, or types the name that a confirmation requires. */
async function sendWhatOpened(page: Page) {
  const dialog = page.getByRole('dialog').last()
  if ((await page.getByRole('dialog').count()) === 0) return
  for (const box of await dialog.locator('input:visible, textarea:visible').all()) await fill(box)
  for (const list of await dialog.locator('select:visible').all())
    if ((await list.inputValue()) === '' && (await list.locator('option').count()) > 1)
      await list.selectOption({ index: 1 })
  const send = dialog.locator(`footer button${enabled}`).last()
  if ((await send.count()) > 0) await send.click()
  // Actions that cannot be undone have a second confirmation.
  const sure = page.getByRole('dialog').last().locator(`[data-confirm]${enabled}`)
  if ((await page.getByRole('dialog').count()) > 1 && (await sure.count()) > 0) await sure.click()
}

async function fill(box: Locator) {
  if (!(await box.isEditable()) || (await box.inputValue()) !== '') return
  const label = await box.evaluate(
    (element) => (element as { labels?: { textContent: string }[] }).labels?.[0]?.textContent ?? '',
  )
  const typed = /^Type (.+) to confirm$/.exec(label)?.[1]
  const type = await box.getAttribute('type')
  if (type === 'file') return box.setInputFiles({ name: 'crawled.env', mimeType: 'text/plain', buffer: crawledFile })
  if (type === 'checkbox' || type === 'radio') return
  const placeholder = await box.getAttribute('placeholder')
  await box.fill(typed ?? (type === 'email' ? 'crawler@example.com' : placeholder || 'crawled'))
}

async function closeAll(page: Page) {
  await expect(async () => {
    const leave = page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true })
    if ((await leave.count()) > 0) await leave.click()
    else if ((await page.locator('[role="dialog"], [role="menu"]').count()) > 0) await page.keyboard.press('Escape')
    await expect(page.locator('[role="dialog"], [role="menu"]')).toHaveCount(0, { timeout: 250 })
  }).toPass({ intervals: [20, 100] })
}
