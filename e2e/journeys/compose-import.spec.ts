import { readFile } from 'node:fs/promises'
import { freePort, removeContainers, signUp, unique, web } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { signIn } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { answers } from '../kit/service.ts'

const editor = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })
const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true })
const problems = (page: Page) => page.getByRole('region', { name: 'Problems' })
const generate = (page: Page) => page.getByRole('button', { name: 'Generate version' })

/** Replaces the text of an editor with a paste: typed lines would be indented, and the browser takes seconds to insert long ones. */
async function paste(page: Page, name: string, text: string) {
  await editor(page, name).click()
  await page.keyboard.press('ControlOrMeta+a')
  await editor(page, name).evaluate((element, pasted) => {
    const scope = globalThis as unknown as {
      DataTransfer: new () => { setData: (type: string, data: string) => void }
      ClipboardEvent: new (type: string, init: object) => Parameters<typeof element.dispatchEvent>[0]
    }
    const clipboardData = new scope.DataTransfer()
    clipboardData.setData('text/plain', pasted)
    element.dispatchEvent(new scope.ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, text)
}

test('a pasted compose file with an error is fixed, generated, deployed and exported', async ({ page, testSystem }) => {
  test.setTimeout(180_000)
  const { registry } = testSystem
  const port = await freePort()
  const prefix = unique('composed')
  const project = unique('Composed ')
  const [front, back] = [unique('front'), unique('back')]
  await registry.push(`${front}/web`, '1.0.0', web('hello from compose'))
  await registry.push(`${back}/api`, '2.0.0', web('hello from the api'))
  const compose = (restart: string) => `services:
  web:
    image: ${registry.host}/${front}/web:1.0.0
    ${restart}
    depends_on:
      - api
    ports:
      - "\${WEB_PORT}:8080"
  api:
    image: ${registry.host}/${back}/api:2.0.0
    environment:
      GREETING: hello
`
  await page.goto('/composer')

  await test.step('the error is listed with its line, and leads there', async () => {
    await paste(page, 'compose.yaml', compose('restrat: always'))
    await paste(page, '.env', `WEB_PORT=${port}`)
    await expect(problems(page)).toContainText('compose.yaml:4')
    await expect(generate(page)).toHaveAttribute('aria-disabled', 'true')
    await problems(page).getByRole('button', { name: 'Go to compose.yaml:4' }).first().click()
    await expect(editor(page, 'compose.yaml')).toBeFocused()
    await expect(page.locator('.cm-focused .cm-activeLine')).toContainText('restrat')
    await expect(page.locator('.cm-lint-marker-error')).toHaveCount(1)
  })

  await test.step('the fixed file survives a reload', async () => {
    await paste(page, 'compose.yaml', compose('restart: always'))
    await expect(problems(page)).toBeHidden()
    await page.reload()
    await expect(card(page, 'web')).toContainText('In the registry')
    await expect(page.getByRole('region', { name: 'Configuration of web' })).toContainText(`"external": ${port}`)
    await expect(card(page, 'api')).toContainText('2.0.0')
    await expect(problems(page)).toBeHidden()
  })

  await test.step('one request generates the project with its version, in the order of the start', async () => {
    const requests: string[] = []
    page.on(
      'request',
      (request) => void (request.method() === 'POST' && requests.push(new URL(request.url()).pathname)),
    )
    await generate(page).click()
    const dialog = page.getByRole('dialog', { name: 'Generate a version' })
    await dialog.getByRole('button', { name: 'Generate', exact: true }).click()
    await expect(dialog.getByLabel('Project name')).toBeFocused()
    await dialog.getByLabel('Project name').fill(project)
    await dialog.getByRole('button', { name: 'Generate', exact: true }).dblclick()
    await expect(page.getByRole('heading', { name: `${project} 1.0.0` })).toBeVisible()
    const rows = page.getByRole('table', { name: 'Images' }).getByRole('row')
    await expect(rows.nth(1)).toContainText('api')
    await expect(rows.nth(2)).toContainText('web')
    expect(requests.filter((path) => path.endsWith('/import'))).toHaveLength(1)
  })

  const versionPage = page.url()
  await test.step('it is deployed and answers', async () => {
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Prefix').fill(prefix)
    await dialog.getByRole('radio').first().click()
    await dialog.getByRole('button', { name: 'Create deployment' }).click()
    await page.waitForURL(/deployments\/[0-9a-f-]{36}$/)
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.waitForURL(/\/deploy$/)
    await expect(page.getByRole('status', { name: 'Result' })).toContainText('2 images deployed', { timeout: 60_000 })
    await answers(port, 'hello from compose')
    await removeContainers(`dev.crux.prefix=${prefix}`)
  })

  await test.step('its export is read back to the same containers', async () => {
    await page.goto(versionPage)
    await page.getByRole('button', { name: 'More actions' }).first().click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Export as compose file' }).click()
    const exported = await readFile(await (await download).path(), 'utf8')
    await page.goto('/composer')
    const before = await page.getByRole('region', { name: 'Configuration of web' }).textContent()
    await paste(page, 'compose.yaml', exported)
    await expect(card(page, 'web')).toContainText(`${registry.host}/${front}/web 1.0.0`)
    await expect(page.getByRole('region', { name: 'Configuration of web' })).toHaveText(before ?? '')
    await expect(problems(page)).toBeHidden()
  })

  await test.step('the same file becomes the next version of the project', async () => {
    await page.goto(versionPage)
    await page.getByRole('button', { name: 'More actions' }).first().click()
    await page.getByRole('menuitem', { name: 'Import compose file' }).click()
    await expect(card(page, 'web')).toBeVisible()
    await generate(page).click()
    const dialog = page.getByRole('dialog', { name: 'Generate a version' })
    await expect(dialog.getByLabel('Versioned project').locator('option:checked')).toHaveText(project)
    await expect(dialog.getByLabel('Version name')).toHaveValue('1.0.1')
    await dialog.getByLabel('Version name').fill('1.0.0')
    await dialog.getByRole('button', { name: 'Generate', exact: true }).click()
    await expect(dialog.getByLabel('Version name')).toHaveAttribute('aria-invalid', 'true')
    await dialog.getByLabel('Version name').fill('1.0.1')
    await dialog.getByRole('button', { name: 'Generate', exact: true }).click()
    await expect(page.getByRole('heading', { name: `${project} 1.0.1` })).toBeVisible()
  })
})

const reachesNode = `services:
  box:
    image: quay.example.com/tools/box:1
    network_mode: host
`

test('a user learns what needs an admin, who creates the missing registry with one click', async ({
  page,
  browser,
  baseURL,
  testSystem,
}) => {
  const { testEnvironment, system } = testSystem
  const grace = await signUp(system.url, { firstName: 'Grace', lastName: 'Hopper' })
  const params = { teamId: testEnvironment.teamId }
  const body = { email: grace.email, firstName: 'Grace', lastName: 'Hopper' }
  await testEnvironment.user.client.call('teams.invite', { params, body })
  await grace.client.call('users.accept-invitation', { params })
  const context = await browser.newContext({ storageState: signedOut, baseURL })
  const graces = await context.newPage()
  await signIn(graces, system.url, grace)

  await graces.goto('/composer')
  await paste(graces, 'compose.yaml', reachesNode)
  await expect(card(graces, 'box')).toContainText('only an admin may import it')
  await expect(card(graces, 'box')).toContainText('No registry of the team matches this image. Ask ')
  await expect(card(graces, 'box').getByRole('button', { name: 'Create registry' })).toHaveAttribute(
    'aria-disabled',
    'true',
  )

  await page.goto('/composer')
  await paste(page, 'compose.yaml', reachesNode)
  await card(page, 'box').getByRole('button', { name: 'Create registry for quay.example.com' }).click()
  await expect(card(page, 'box')).toContainText('In the registry quay.example.com')
  await expect(generate(page)).not.toHaveAttribute('aria-disabled', 'true')

  // With the registry only the settings of an admin are left.
  await graces.reload()
  await expect(card(graces, 'box')).toContainText('In the registry quay.example.com')
  await expect(generate(graces)).toHaveAttribute('aria-disabled', 'true')

  await graces.goto('/auth/logout')
  await graces.waitForURL(/\/auth\/login/)
  expect(await graces.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('composer')))).toEqual([])
  await context.close()

  // Other journeys count the members and registries of this team.
  await grace.client.call('teams.leave', { params })
  const { teamSlug } = testEnvironment
  const registries = await testEnvironment.user.client.call('registries.list', { params: { teamSlug } })
  const created = registries.find(({ url }) => url === 'quay.example.com')
  await testEnvironment.user.client.call('registries.delete', { params: { teamSlug, registryId: created?.id ?? '' } })
})

test('dropped and chosen files become tabs and .env cards, and a large or hostile file does no harm', async ({
  page,
}) => {
  const violations: string[] = []
  await page.exposeFunction('reportViolation', (directive: string) => void violations.push(directive))
  await page.addInitScript(() => {
    const scope = globalThis as unknown as {
      addEventListener: (type: string, run: (event: { violatedDirective: string }) => void) => void
      reportViolation: (directive: string) => void
    }
    scope.addEventListener('securitypolicyviolation', (event) => scope.reportViolation(event.violatedDirective))
  })
  await page.goto('/composer')
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Open files' }).click()
  const toFile = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  await (await chooser).setFiles([
    toFile('docker-compose.yml', 'services:\n  web:\n    image: nginx:1\n    env_file: [web.env]\n'),
    toFile('extra.yaml', 'services:\n  web:\n    command: ["<img src=x onerror=xss()>"]\n'),
    toFile('web.env', 'COLOUR=blue\n'),
  ])
  await expect(page.getByRole('radio', { name: 'docker-compose.yml' })).toBeChecked()
  const configuration = page.getByRole('region', { name: 'Configuration of web' })
  await expect(configuration).toContainText('"COLOUR": "blue"')
  await expect(configuration).toContainText('<img src=x onerror=xss()>')

  await page.getByRole('radio', { name: 'extra.yaml' }).click()
  await page.getByRole('button', { name: 'Remove extra.yaml' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove extra.yaml' }).click()
  await expect(configuration).not.toContainText('<img')
  await page.getByRole('link', { name: 'Environment' }).click()
  await page.getByRole('button', { name: 'Rename web.env' }).click()
  const dialog = page.getByRole('dialog', { name: 'Rename web.env' })
  await dialog.getByLabel('File name').fill('.env')
  await expect(dialog).toContainText('Another file has this name')
  await dialog.getByLabel('File name').fill('other.env')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await expect(problems(page)).toContainText('web.env')

  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
  for (let level = 0; level < 12; level++) {
    const [from, to] = ['abcdefghijklm'[level], 'abcdefghijklm'[level + 1]]
    bomb.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(', ')}]`)
  }
  await paste(page, 'docker-compose.yml', bomb.join('\n'))
  await expect(problems(page)).toContainText('docker-compose.yml')
  await paste(page, 'docker-compose.yml', 'services:\n  web:\n    image: nginx:2\n')
  await page.getByRole('link', { name: 'Containers' }).click()
  await expect(card(page, 'web')).toContainText('docker.io/library/nginx 2')

  // Completion and hover come from the schema.
  await editor(page, 'docker-compose.yml').press('ControlOrMeta+End')
  await page.keyboard.type('    workin')
  await page.getByRole('option', { name: 'working_dir' }).click()
  await page.keyboard.type('/srv')
  await expect(page.getByRole('region', { name: 'Configuration of web' })).toContainText('"workingDirectory": "/srv"')
  await page.getByText('working_dir', { exact: true }).first().hover()
  await expect(page.locator('.cm-tooltip-hover')).toContainText('directory')
  expect(violations).toEqual([])
})
