import { createDeployment, createService, idle, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect, signedOut, test } from '../kit/journey.ts'

/** Types a search, moves down to this entry and presses Enter. */
const jump = async (page: Page, words: string, entry: RegExp) => {
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Go to anything' })
  await palette.getByPlaceholder('Search by name').fill(words)
  const option = palette.getByRole('option', { name: entry })
  await expect(async () => {
    const chosen = async () => (await option.getAttribute('data-selected')) === 'true'
    if (!(await chosen())) await page.keyboard.press('ArrowDown')
    expect(await chosen()).toBe(true)
  }).toPass({ intervals: [20] })
  await page.keyboard.press('Enter')
  await expect(palette).toBeHidden()
}

test('the palette opens any project, node and deployment by keyboard', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const name = unique('Palette ')
  const prefix = unique('pal')
  const service = await createService(testEnvironment, [{ name: unique('pal/i'), tag: '1', image: idle() }], { name })
  const deployment = await createDeployment(testEnvironment, service, prefix)
  const node = await testEnvironment.user.client.call('nodes.get', {
    params: { teamSlug: testEnvironment.teamSlug, nodeId: testEnvironment.nodeId },
  })
  await page.goto(`/${testEnvironment.teamSlug}/dashboard`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await jump(page, name, new RegExp(`^${name}$`))
  await page.waitForURL(`**/projects/${service.projectId}`)
  await jump(page, node.name, new RegExp(`^${node.name}`))
  await page.waitForURL(`**/nodes/${testEnvironment.nodeId}`)
  await jump(page, prefix, new RegExp(prefix))
  await page.waitForURL(`**/deployments/${deployment.id}`)
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Go to anything' })
  await expect(palette.getByRole('option', { name: 'Pipelines' })).toContainText('planned')
  await expect(palette.getByRole('option', { name: 'Projects', exact: true })).not.toContainText('planned')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('the palette finds a deployment that is not among the newest', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const prefix = unique('old')
  const service = await createService(testEnvironment, [{ name: unique('old/i'), tag: '1', image: idle() }])
  const { id } = await createDeployment(testEnvironment, service, prefix)
  // Simulates more deployments than one list contains, without this one among them.
  await page.route(/\/deployments\?skip=0&take=200$/, async (route) => {
    const answer = await route.fetch()
    const json = (await answer.json()) as { items: { id: string }[]; total: number }
    await route.fulfill({ response: answer, json: { ...json, items: json.items.filter((one) => one.id !== id) } })
  })
  await page.goto(`/${testEnvironment.teamSlug}/dashboard`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await jump(page, `${prefix} i`, new RegExp(prefix))
  await page.waitForURL(`**/deployments/${id}`)
})

test('a dialog that is open on one deployment is not open on the next with the values of the first', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [{ name: unique('next/i'), tag: '1', image: idle() }])
  const [first, second] = [unique('first'), unique('second')]
  await createDeployment(testEnvironment, service, first)
  const { id } = await createDeployment(testEnvironment, service, second)
  await page.goto(`/${testEnvironment.teamSlug}/deployments/${id}`)
  await expect(page.getByText(second).first()).toBeVisible()
  await jump(page, first, new RegExp(first))
  await expect(page.getByText(first).first()).toBeVisible()
  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const form = page.getByRole('dialog')
  await expect(form.getByLabel('Prefix')).toHaveValue(first)
  await page.goBack()
  await page.waitForURL(`**/deployments/${id}`)
  await expect(page.getByText(second).first()).toBeVisible()
  await expect(form).toBeHidden()
})

test('single keys navigate and list the shortcuts, but not while a user types', async ({ page, testSystem }) => {
  const { teamSlug } = testSystem.testEnvironment
  await page.goto(`/${teamSlug}/dashboard`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  for (const [key, path] of [
    ['p', 'projects'],
    ['d', 'deployments'],
    ['n', 'nodes'],
  ] as const) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await page.waitForURL(`**/${teamSlug}/${path}`)
  }
  await page.getByRole('searchbox').fill('gp?')
  await expect(page.getByRole('searchbox')).toHaveValue('gp?')
  await expect(page).toHaveURL(new RegExp(`/${teamSlug}/nodes$`))
  await page.getByRole('searchbox').blur()
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toContainText('Go to deployments')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('the theme is switched in the user menu and stays after a reload', async ({ page, testSystem }) => {
  await page.goto(`/${testSystem.testEnvironment.teamSlug}/dashboard`)
  const ground = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  const choose = async (theme: string) => {
    await page.getByRole('button', { name: /owner in/ }).click()
    await page.getByRole('radio', { name: theme }).click()
    await page.keyboard.press('Escape')
  }
  await choose('Light')
  const light = await ground()
  await choose('Dark')
  await expect.poll(ground).not.toBe(light)
  const dark = await ground()
  await page.reload()
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  expect(await ground()).toBe(dark)
})

test('an unknown address shows that it does not exist, and a team of others leads to the start page', async ({
  page,
  testSystem,
}) => {
  const { teamSlug } = testSystem.testEnvironment
  await page.goto('/no/such/page/here')
  await expect(page.getByRole('heading', { name: 'There is nothing here' })).toBeVisible()
  await page.goto(`/${teamSlug}/projects/00000000-0000-4000-8000-000000000000`)
  await expect(page.getByRole('heading', { name: 'There is nothing here' })).toBeVisible()
  await page.getByRole('link', { name: 'Go to the start page' }).click()
  await page.waitForURL(`**/${teamSlug}/dashboard`)
  await page.goto('/somebody-else/deployments')
  await page.waitForURL(`**/${teamSlug}/dashboard`)
})

test('the page of a deleted deployment shows that it is gone, and no message about its live updates', async ({
  page,
  testSystem,
}) => {
  const refused = new Promise<void>((resolve) =>
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => String(payload).includes('"sub-failed"') && resolve()),
    ),
  )
  await page.goto(`/${testSystem.testEnvironment.teamSlug}/deployments/00000000-0000-4000-8000-000000000000`)
  await refused
  await expect(page.getByRole('heading', { name: 'There is nothing here' })).toBeVisible()
  // The data of the page is requested again before a message would be shown.
  await page.waitForLoadState('networkidle')
  // Without waiting, because a message disappears by itself.
  expect(await page.locator('.toast-error').count()).toBe(0)
})

test('the sidebar on a phone is a sheet that navigates and closes', async ({ page, testSystem }) => {
  const { teamSlug } = testSystem.testEnvironment
  await page.setViewportSize({ width: 375, height: 740 })
  await page.goto(`/${teamSlug}/dashboard`)
  await expect(page.getByRole('link', { name: 'Nodes' })).toBeHidden()
  await page.getByRole('button', { name: 'Open the menu' }).click()
  const sheet = page.getByRole('dialog')
  await sheet.getByRole('link', { name: 'Nodes' }).click()
  await page.waitForURL(`**/${teamSlug}/nodes`)
  await expect(sheet).toBeHidden()
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375)
})

test('an unavailable server is shown in a banner, and changes appear when it is back', async ({ page, testSystem }) => {
  const { testEnvironment, system } = testSystem
  await page.goto(`/${testEnvironment.teamSlug}/nodes`)
  const live = page.locator('[data-live]')
  await expect(live).toHaveAttribute('data-live', 'live')
  const away = system.restart('server', { pauseMs: 6_000 })
  await expect(page.getByText('No connection to the server.')).toBeVisible({ timeout: 20_000 })
  await away
  await page.getByRole('button', { name: 'Try now' }).click()
  await expect(page.getByText('No connection to the server.')).toBeHidden({ timeout: 20_000 })
  await expect(live).toHaveAttribute('data-live', 'live')
  await expect(page.getByRole('main').getByText('Connected', { exact: true }).first()).toBeVisible({ timeout: 30_000 })
})

test.describe('without a session', () => {
  test.use({ storageState: signedOut })
  test('cannot open any address of the console, which redirects to the sign-in page and back', async ({
    page,
    testSystem,
  }) => {
    await page.goto(`/${testSystem.testEnvironment.teamSlug}/deployments?status=failed`)
    await page.waitForURL(/\/auth\/login\?return_to=/)
    expect(new URL(page.url()).searchParams.get('return_to')).toContain('status=failed')
  })

  test('files whose loading a changing network interrupted are requested again, until the console is rendered with its styles', async ({
    page,
  }) => {
    const cut = { css: 2, js: 1 }
    await page.route(/\/assets\/index-[^/]+\.(css|js)$/, async (route) => {
      const kind = route.request().url().endsWith('.css') ? 'css' : 'js'
      if (cut[kind]-- > 0) await route.abort('failed')
      else await route.continue()
    })
    await page.goto('/auth/login')
    const email = page.getByLabel('E-mail')
    await email.fill('ada@example.com')
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).not.toHaveCSS('border-radius', '0px')
    await expect(email).toHaveValue('ada@example.com')
    expect(cut.css, 'asked for until it came').toBeLessThan(0)
  })
})

test('a tooltip disappears with its element, and is not shown for a removed one', async ({ page, testSystem }) => {
  await page.clock.install()
  await page.goto(`/${testSystem.testEnvironment.teamSlug}/dashboard`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.clock.pauseAt(new Date(Date.now() + 60_000))
  const add = () =>
    page.evaluate(`document.body.insertAdjacentHTML('beforeend',
      '<button data-tip="An explanation" style="position: fixed; top: 200px; left: 200px; z-index: 99">Explained</button>')`)
  const explained = page.getByRole('button', { name: 'Explained' })
  const tooltip = page.getByRole('tooltip')
  await add()
  await explained.hover()
  await page.clock.runFor(400)
  await expect(tooltip).toHaveText('An explanation')
  await explained.evaluate((element) => element.remove())
  await expect(tooltip).toHaveCount(0)

  await page.mouse.move(0, 0)
  await page.clock.runFor(1_000)
  await add()
  await explained.hover()
  await explained.evaluate((element) => element.remove())
  await page.clock.runFor(400)
  await expect(tooltip).toHaveCount(0)
})

test('a tooltip is shown for what the pointer was moved to, not for what appears under it or what it has left', async ({
  page,
  testSystem,
}) => {
  await page.goto(`/${testSystem.testEnvironment.teamSlug}/dashboard`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  const tooltip = page.getByRole('tooltip')
  const expectNone = async (message: string) => {
    await page.waitForTimeout(600)
    await expect(tooltip, message).toHaveCount(0)
  }
  await page.mouse.move(210, 210)
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend',
    '<button data-tip="An explanation" style="position: fixed; top: 200px; left: 200px; z-index: 99">Explained</button>')`)
  // The browser sends this event at a time of its own.
  await page
    .getByRole('button', { name: 'Explained' })
    .dispatchEvent('pointerover', { pointerType: 'mouse', clientX: 210, clientY: 210 })
  await expectNone('the button appeared under the pointer')
  await page.mouse.move(212, 212)
  await expect(tooltip).toHaveText('An explanation')
  await page.mouse.down()
  await page.mouse.up()
  await page.mouse.move(214, 214)
  await expectNone('a click hides it')
  await page.mouse.move(5, 5)
  await page.mouse.move(214, 214)
  await page.mouse.move(5, 5)
  await expectNone('the pointer left before the delay ended')
})
