import type { Page } from '@playwright/test'
import { addAuthenticator } from '../kit/authenticator.ts'
import { newAccount } from '../kit/console.ts'
import { expect, startSystem, test } from '../kit/test-system.ts'

let crux: Awaited<ReturnType<typeof startSystem>>
test.beforeAll(async () => {
  crux = await startSystem()
})
test.afterAll(async () => {
  await crux.stop()
  await crux.destroy()
})

interface Node {
  type: string
  group: string
  attributes: Record<string, unknown> & { name?: string; value?: unknown; type?: string; src?: string }
}
interface Flow {
  id: string
  ui: { action: string; nodes: Node[] }
}

const escaped = (value: unknown) =>
  String(value ?? '')
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')

/** A page that does not use the console: the nodes as a form, the script, and a click handler that calls it. */
async function showForm(page: Page, flow: Flow, groups: string[]): Promise<void> {
  const nodes = flow.ui.nodes.filter(({ type, group }) => type === 'input' && groups.includes(group))
  const inputs = nodes.map(({ attributes }) => {
    const { name, type, value, onclickTrigger } = attributes
    return `<input name="${name}" type="${type}" value="${escaped(value)}" data-run="${escaped(onclickTrigger)}">`
  })
  const script = flow.ui.nodes.find(({ type }) => type === 'script')?.attributes
  const policy = `script-src 'self' 'nonce-page'`
  await page.route('**/plain', (route) =>
    route.fulfill({
      contentType: 'text/html',
      headers: { 'content-security-policy': policy },
      body: `<!doctype html><form method="POST" action="${flow.ui.action}">${inputs.join('')}</form>
        <script src="${script?.src}" integrity="${script?.integrity}" crossorigin="${script?.crossorigin}"></script>
        <script nonce="page">for (const button of document.querySelectorAll('[type=button]'))
          button.addEventListener('click', () => window[button.dataset.run]())</script>`,
    }),
  )
  await page.goto(`${crux.url}/plain`)
}

async function open(page: Page, path: string): Promise<Flow> {
  // The next page must not redirect by itself.
  const address = new URL(`${crux.url}/kratos${path}`)
  address.searchParams.set('return_to', '/kratos/health/alive')
  const answer = await page.request.get(address.href, { headers: { accept: 'application/json' } })
  return (await answer.json()) as Flow
}

const isIn = async (page: Page) => (await page.request.get(`${crux.url}/kratos/sessions/whoami`)).status()

test.beforeEach(({ page }) => addAuthenticator(page))

test('the script of the identity service signs up, signs in and adds keys on a page with a strict policy', async ({
  page,
  context,
}) => {
  const { email } = newAccount()
  const registration = await open(page, '/self-service/registration/browser')
  await showForm(page, registration, ['default', 'passkey'])
  await page.locator('[name="traits.email"]').fill(email)
  await page.locator('[name=passkey_register_trigger]').click()
  await page.waitForURL('**/health/alive')
  expect(await isIn(page)).toBe(200)

  await context.clearCookies()
  const login = await open(page, '/self-service/login/browser')
  await showForm(page, login, ['default', 'passkey'])
  await page.locator('[name=passkey_login_trigger]').click()
  await page.waitForURL('**/health/alive')
  expect(await isIn(page)).toBe(200)

  const settings = await open(page, '/self-service/settings/browser')
  await showForm(page, settings, ['default', 'webauthn'])
  await page.locator('[name=webauthn_register_trigger]').click()
  await page.waitForURL('**/health/alive')
  const added = await open(page, '/self-service/settings/browser')
  expect(added.ui.nodes.filter(({ attributes }) => attributes.name === 'webauthn_remove')).toHaveLength(1)
  expect(added.ui.nodes.filter(({ attributes }) => attributes.name === 'passkey_remove')).toHaveLength(1)

  await context.clearCookies()
  await showForm(page, await open(page, '/self-service/login/browser'), ['default', 'passkey'])
  await page.locator('[name=passkey_login_trigger]').click()
  await page.waitForURL('**/auth/login?flow=*')
  expect(await isIn(page)).toBe(403)
  await page.goto('about:blank')
  const second = await open(page, '/self-service/login/browser?aal=aal2')
  await showForm(page, second, ['default', 'webauthn'])
  await page.locator('[name=webauthn_login_trigger]').click()
  await page.waitForURL('**/health/alive')
  expect(await isIn(page)).toBe(200)
})

test('a page can complete the submit itself, and receives the error of the browser', async ({ page }) => {
  const login = await open(page, '/self-service/login/browser')
  await showForm(page, login, ['default', 'passkey'])
  // The browser has no passkey, so it refuses.
  const refused = page.evaluate<string>(
    `new Promise((resolve) => document.addEventListener('crux:webauthn-error', ({ detail }) => resolve(detail.name)))`,
  )
  await page.locator('[name=passkey_login_trigger]').click()
  expect(await refused).toBe('NotAllowedError')

  const registration = await open(page, '/self-service/registration/browser')
  await showForm(page, registration, ['default', 'passkey'])
  await page.locator('[name="traits.email"]').fill(newAccount().email)
  const submitted = page.evaluate<string>(
    `new Promise((resolve) => document.addEventListener('submit', (event) => {
      event.preventDefault()
      resolve(new FormData(event.target).get('passkey_register'))
    }))`,
  )
  await page.locator('[name=passkey_register_trigger]').click()
  expect(JSON.parse(await submitted)).toMatchObject({ type: 'public-key' })
  expect(new URL(page.url()).pathname).toBe('/plain')
})
