import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { expect, signedOut, test } from '../kit/journey.ts'
import { buildScene, type Scene } from '../kit/scene.ts'

const folder = fileURLToPath(new URL('../screenshots/', import.meta.url))
let scene: Scene
test.beforeAll(async ({ stage }) => {
  test.setTimeout(180_000)
  scene = await buildScene(stage.world)
})

type Shot = { name: string; path: () => string; act?: (page: Page) => Promise<unknown> }
const dialog = (page: Page) => page.getByRole('dialog')

const withoutSession: Shot[] = [
  { name: 'login', path: () => '/auth/login' },
  {
    name: 'login-refused',
    path: () => '/auth/login',
    act: async (page) => {
      await page.getByLabel('E-mail').fill('ada@example.com')
      await page.getByLabel('Password', { exact: true }).fill('not the password')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await expect(page.getByText('E-mail or password is wrong.')).toBeVisible()
    },
  },
  { name: 'register', path: () => '/auth/register' },
  { name: 'verify', path: () => '/auth/verify' },
  { name: 'recovery', path: () => '/auth/recovery' },
  { name: 'flow-error', path: () => '/error' },
  { name: 'status', path: () => '/status' },
  { name: 'not-found', path: () => '/404' },
  { name: 'crash', path: () => '/500' },
]

const inTeam = (path: string) => () => `/${scene.team}/${path}`
const inEmptyTeam = (path: string) => () => `/${scene.emptyTeam}/${path}`
const withSession: Shot[] = [
  { name: 'team-create', path: () => '/teams/create' },
  { name: 'teams', path: () => '/teams' },
  { name: 'team', path: () => `/teams/${scene.teamId}` },
  { name: 'planned', path: () => '/templates' },
  { name: 'dashboard', path: inTeam('dashboard') },
  { name: 'dashboard-empty', path: inEmptyTeam('dashboard') },
  { name: 'registries', path: inTeam('registries') },
  { name: 'registry', path: () => `/${scene.team}/registries/${scene.registry}` },
  { name: 'registry-create', path: inTeam('registries#new'), act: (page) => expect(dialog(page)).toBeVisible() },
  { name: 'projects', path: inTeam('projects') },
  { name: 'projects-empty', path: inEmptyTeam('projects') },
  { name: 'project-create', path: inTeam('projects#new'), act: (page) => expect(dialog(page)).toBeVisible() },
  { name: 'project-versioned', path: () => `/${scene.team}/projects/${scene.versioned.project}` },
  { name: 'project-versionless', path: () => `/${scene.team}/projects/${scene.versionless}` },
  { name: 'version', path: () => versionPath(scene.versioned.version) },
  { name: 'version-read-only', path: () => versionPath(scene.versioned.readOnly) },
  { name: 'version-reorder', path: () => `${versionPath(scene.versioned.version)}?section=reorder` },
  { name: 'version-deployments', path: () => `${versionPath(scene.versioned.version)}?section=deployments` },
  {
    name: 'version-add-images',
    path: () => versionPath(scene.versioned.version),
    act: async (page) => {
      await page.getByRole('button', { name: 'Add images' }).click()
      await dialog(page)
        .getByRole('radio', { name: /^registry-/ })
        .click()
      await dialog(page).getByRole('checkbox').first().click()
    },
  },
  {
    name: 'version-tag',
    path: () => versionPath(scene.versioned.version),
    act: async (page) => {
      await page.getByRole('button', { name: 'Change the tag' }).first().click()
      await expect(dialog(page).getByRole('button', { name: '1.0.0' })).toBeVisible()
    },
  },
  { name: 'nodes', path: inTeam('nodes') },
  { name: 'nodes-empty', path: inEmptyTeam('nodes') },
  { name: 'node', path: () => `/${scene.team}/nodes/${scene.node}` },
  { name: 'node-deployments', path: () => `/${scene.team}/nodes/${scene.node}?section=deployments` },
  { name: 'node-events', path: () => `/${scene.team}/nodes/${scene.node}?section=events` },
  { name: 'node-install', path: () => `/${scene.team}/nodes/${scene.newNode}` },
  {
    name: 'container-log',
    path: () => containerPath('log'),
    act: (page) => expect(page.getByText('listening on :8080')).toBeVisible(),
  },
  { name: 'container-inspect', path: () => containerPath('inspect') },
  { name: 'deployments', path: inTeam('deployments') },
  { name: 'deployments-empty', path: inEmptyTeam('deployments') },
  { name: 'deployment-create', path: inTeam('deployments#new'), act: (page) => expect(dialog(page)).toBeVisible() },
  { name: 'deployment', path: () => deploymentPath(scene.deployment.prepared) },
  { name: 'deployment-failed', path: () => deploymentPath(scene.deployment.failed) },
  { name: 'progress-successful', path: () => `${deploymentPath(scene.deployment.good)}/deploy` },
  { name: 'progress-failed', path: () => `${deploymentPath(scene.deployment.failed)}/deploy` },
  { name: 'configuration-image', path: () => configurationPath(scene.configuration.image) },
  { name: 'configuration-instance', path: () => configurationPath(scene.configuration.instance) },
  {
    name: 'configuration-json',
    path: () => configurationPath(scene.configuration.image),
    act: async (page) => {
      await page.getByRole('radio', { name: 'JSON' }).click()
      await expect(page.getByText('LOG_LEVEL')).toBeVisible()
    },
  },
  {
    name: 'palette',
    path: inTeam('dashboard'),
    act: async (page) => {
      await page.keyboard.press('Control+k')
      await expect(dialog(page).getByText('Nightly import').first()).toBeVisible()
    },
  },
  {
    name: 'confirm',
    path: () => `/${scene.team}/projects/${scene.versionless}`,
    act: async (page) => {
      await page.getByRole('button', { name: 'More actions' }).first().click()
      await page.getByRole('menuitem', { name: 'Delete project' }).click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  ...failing('deployments', 'projects', 'nodes', 'registries', 'dashboard'),
]

const versionPath = (id: string) => `/${scene.team}/projects/${scene.versioned.project}/versions/${id}`
const deploymentPath = (id: string) => `/${scene.team}/deployments/${id}`
const configurationPath = (id: string) => `/${scene.team}/container-configurations/${id}`
const containerPath = (page: string) =>
  `/${scene.team}/nodes/${scene.node}/${page}?prefix=${scene.container.prefix}&name=${scene.container.name}`

/** The same pages when the server cannot answer their question. */
function failing(...pages: string[]): Shot[] {
  return pages.map((name) => ({
    name: `${name}-failing`,
    path: inTeam(name),
    act: async (page) => {
      await page.route(new RegExp(`/api/[^/]+/${name}(\\?|$)`), (route) =>
        route.fulfill({
          status: 500,
          json: { error: 'internal', message: 'Internal server error', requestId: 'r-4711' },
        }),
      )
      await page.reload()
      await expect(page.getByText('This could not be loaded')).toBeVisible({ timeout: 20_000 })
    },
  }))
}

async function settle(page: Page) {
  await expect(page.locator('.skeleton')).toHaveCount(0)
  await page.evaluate('document.fonts.ready')
}

/** Both themes and both widths of one page, and what axe finds serious. */
async function look(page: Page, { name, path, act }: Shot) {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.goto(path())
  await expect(page.locator('main')).toContainText(/\w/)
  await settle(page)
  await act?.(page)
  for (const width of [1440, 375]) {
    await page.setViewportSize({ width, height: width === 375 ? 812 : 900 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme)
      await settle(page)
      await page.screenshot({ path: `${folder}${name}-${colorScheme}-${width}.png`, animations: 'disabled' })
      // One run of axe per theme, and with them one per width.
      if ((width === 1440) === (colorScheme === 'light')) {
        const { violations } = await new AxeBuilder({ page }).analyze()
        const serious = violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(
            ({ id, nodes }) =>
              `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
          )
        expect.soft(serious, `axe, ${colorScheme}, ${width}`).toEqual([])
      }
    }
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect.soft(wide, `nothing sticks out at ${width}`).toBeLessThanOrEqual(width)
  }
}

test.describe('signed out', () => {
  test.use({ storageState: signedOut })
  for (const shot of withoutSession)
    test(`${shot.name} reads well in both themes and widths`, ({ page }) => look(page, shot))
})
for (const shot of withSession)
  test(`${shot.name} reads well in both themes and widths`, ({ page }) => look(page, shot))
