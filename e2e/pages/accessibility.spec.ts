import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from '@playwright/test'
import axe, { type AxeResults } from 'axe-core'
import { composerShots } from '../kit/composer-shots.ts'
import { deploymentShots, type Shot } from '../kit/deployment-shots.ts'
import { driftShots } from '../kit/drift-shots.ts'
import { failingShots } from '../kit/failing-shots.ts'
import { buildFixture, type Fixture } from '../kit/fixture.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { machineShots } from '../kit/machine-shots.ts'
import { notificationShots } from '../kit/notification-shots.ts'
import { packageShots } from '../kit/package-shots.ts'
import { pipelineShots } from '../kit/pipeline-shots.ts'
import { prepareStartProblems, type StartProblems } from '../kit/start-problems.ts'
import { templateShots } from '../kit/template-shots.ts'

const directory = fileURLToPath(new URL('../screenshots/', import.meta.url))
/** Every page in both themes at both widths takes minutes, so by default each one is checked wide in one theme and narrow in the other. */
const everyAppearance = process.env.CRUX_TEST_FULL === '1'
// A trace screenshot of every step would only cost time beside the screenshots of this test.
test.use({ trace: 'off' })

let fixture: Fixture
let startProblems: StartProblems
test.beforeAll(async ({ testSystem }) => {
  test.setTimeout(180_000)
  fixture = await buildFixture(testSystem.testEnvironment)
  startProblems = await prepareStartProblems(testSystem.testEnvironment)
})
test.afterAll(() => startProblems.end())

const dialog = (page: Page) => page.getByRole('dialog')
const dialogOpens = (page: Page) => expect(dialog(page)).toBeVisible()

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
  { name: 'recovery-expired', path: () => '/auth/recovery/expired' },
  { name: 'create-account', path: () => `/auth/create-account?team=${fixture.teamId}&invitation=a-single-use-secret` },
  { name: 'mails', path: () => '/mails' },
  { name: 'flow-error', path: () => '/error' },
  { name: 'status', path: () => '/status' },
  ...whenFull(
    ...(['login', 'register', 'verify', 'recovery'] as const).map((name) =>
      unreachable(name, `/auth/${name}`, /\/kratos\/self-service\//, 'Could not prepare the form'),
    ),
    unreachable('flow-error', '/error?id=4711', /\/kratos\/self-service\//, 'This could not be loaded'),
  ),
  { name: 'not-found', path: () => '/404' },
  { name: 'crash', path: () => '/500' },
]

const inTeam = (path: string) => () => `/${fixture.team}/${path}`
const inEmptyTeam = (path: string) => () => `/${fixture.emptyTeam}/${path}`
const withSession: Shot[] = [
  { name: 'team-create', path: () => '/teams/create' },
  { name: 'teams', path: () => '/teams' },
  { name: 'team', path: () => `/teams/${fixture.teamId}` },
  {
    name: 'team-invite',
    path: () => `/teams/${fixture.teamId}`,
    act: async (page) => {
      await page.getByRole('button', { name: 'Invite', exact: true }).click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'team-security',
    path: () => `/teams/${fixture.teamId}`,
    act: async (page) => {
      await page.getByRole('button', { name: 'Edit', exact: true }).last().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  { name: 'invitation-none', path: () => '/teams/00000000-0000-4000-8000-000000000000/invitation' },
  { name: 'audit-log', path: inTeam('audit-log') },
  {
    name: 'audit-log-entry',
    path: inTeam('audit-log'),
    act: async (page) => {
      await page.getByRole('button', { name: 'Show details' }).first().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  { name: 'account', path: () => '/auth/settings' },
  { name: 'account-edit', path: () => '/auth/settings/edit-profile' },
  { name: 'account-password', path: () => '/auth/settings/change-password' },
  { name: 'account-new-password', path: () => '/auth/settings/new-password' },
  { name: 'account-second-factors', path: () => '/auth/settings/second-factors' },
  { name: 'account-sign-in', path: () => '/auth/settings/sign-in' },
  {
    name: 'account-authenticator',
    path: () => '/auth/settings/second-factors',
    act: (page) => page.getByRole('button', { name: 'Set up' }).click(),
  },
  {
    name: 'account-backup-codes',
    path: () => '/auth/settings/second-factors',
    act: async (page) => {
      await page.getByRole('button', { name: 'Create codes' }).click()
      await expect(page.getByRole('button', { name: 'I have stored them' })).toBeVisible()
    },
  },
  { name: 'account-sessions', path: () => '/auth/settings/sessions' },
  { name: 'account-security-log', path: () => '/auth/settings/security-log' },
  ...whenFull(
    ...(['edit-profile', 'change-password', 'new-password', 'sign-in', 'second-factors'] as const).map((name) =>
      unreachable(
        `account-${name}`,
        `/auth/settings/${name}`,
        /\/kratos\/self-service\//,
        'Could not prepare the form',
      ),
    ),
    unreachable('account-sessions', '/auth/settings/sessions', /\/kratos\/sessions\?/, 'This could not be loaded'),
    unreachable(
      'account-security-log',
      '/auth/settings/security-log',
      /\/kratos\/sessions\/security-log/,
      'This could not be loaded',
    ),
    {
      name: 'account-security-log-empty',
      path: () => '/auth/settings/security-log',
      before: (page) => page.route(/\/kratos\/sessions\/security-log/, (route) => route.fulfill({ json: [] })),
      act: (page) => expect(page.getByText('Nothing yet')).toBeVisible(),
    },
  ),
  { name: 'tokens-empty', path: () => '/auth/settings/tokens' },
  { name: 'token-create', path: () => '/auth/settings/tokens#new', act: dialogOpens },
  ...packageShots(() => fixture),
  ...templateShots,
  ...composerShots,
  { name: 'dashboard', path: inTeam('dashboard') },
  { name: 'dashboard-empty', path: inEmptyTeam('dashboard') },
  { name: 'registries', path: inTeam('registries') },
  { name: 'registry', path: () => `/${fixture.team}/registries/${fixture.registry}` },
  { name: 'registry-create', path: inTeam('registries#new'), act: dialogOpens },
  { name: 'config-bundles', path: inTeam('config-bundles') },
  { name: 'config-bundles-empty', path: inEmptyTeam('config-bundles') },
  { name: 'config-bundle', path: () => `/${fixture.team}/config-bundles/${fixture.bundle}` },
  { name: 'config-bundle-create', path: inTeam('config-bundles#new'), act: dialogOpens },
  { name: 'storages', path: inTeam('storages') },
  { name: 'storages-empty', path: inEmptyTeam('storages') },
  { name: 'storage', path: () => `/${fixture.team}/storages/${fixture.storage}` },
  { name: 'storage-create', path: inTeam('storages#new'), act: dialogOpens },
  ...notificationShots(() => fixture),
  { name: 'projects', path: inTeam('projects') },
  { name: 'projects-empty', path: inEmptyTeam('projects') },
  { name: 'project-create', path: inTeam('projects#new'), act: dialogOpens },
  { name: 'image-run', path: inTeam('projects#run'), act: dialogOpens },
  { name: 'project-versioned', path: () => `/${fixture.team}/projects/${fixture.versioned.project}` },
  { name: 'project-versionless', path: () => `/${fixture.team}/projects/${fixture.versionless}` },
  { name: 'version', path: () => versionPath(fixture.versioned.version) },
  { name: 'version-read-only', path: () => versionPath(fixture.versioned.readOnly) },
  { name: 'version-reorder', path: () => `${versionPath(fixture.versioned.version)}?section=reorder` },
  { name: 'version-deployments', path: () => `${versionPath(fixture.versioned.version)}?section=deployments` },
  {
    name: 'version-add-images',
    path: () => versionPath(fixture.versioned.version),
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
    path: () => versionPath(fixture.versioned.version),
    act: async (page) => {
      await page.getByRole('button', { name: 'Change the tag' }).first().click()
      await expect(dialog(page).getByRole('button', { name: '1.0.0' })).toBeVisible()
    },
  },
  { name: 'nodes', path: inTeam('nodes') },
  { name: 'nodes-empty', path: inEmptyTeam('nodes') },
  { name: 'node', path: () => `/${fixture.team}/nodes/${fixture.node}` },
  { name: 'node-deployments', path: () => `/${fixture.team}/nodes/${fixture.node}?section=deployments` },
  { name: 'node-images', path: () => `/${fixture.team}/nodes/${fixture.node}?section=images` },
  { name: 'node-events', path: () => `/${fixture.team}/nodes/${fixture.node}?section=events` },
  { name: 'node-install', path: () => `/${fixture.team}/nodes/${fixture.newNode}` },
  {
    name: 'container-log',
    path: () => containerPath('log'),
    act: (page) => expect(page.getByText('listening on :8080')).toBeVisible(),
  },
  { name: 'container-inspect', path: () => containerPath('inspect') },
  ...[deploymentShots, driftShots, machineShots, pipelineShots].flatMap((shots) => shots(() => fixture)),
  { name: 'configuration-image', path: () => configurationPath(fixture.configuration.image) },
  { name: 'configuration-instance', path: () => configurationPath(fixture.configuration.instance) },
  {
    name: 'configuration-start-problems',
    path: () => configurationPath(startProblems.configIds.shop),
    act: (page) => expect(page.getByRole('heading', { name: 'Fix 6 problems to deploy' })).toBeVisible(),
    see: (page) => page.getByRole('region', { name: 'Ports', exact: true }),
  },
  {
    name: 'configuration-json',
    path: () => configurationPath(fixture.configuration.image),
    act: async (page) => {
      await page.getByRole('radio', { name: 'JSON' }).click()
      await expect(page.getByText('LOG_LEVEL')).toBeVisible()
    },
  },
  {
    name: 'configuration-final',
    path: () => `${configurationPath(fixture.configuration.instance)}?view=final`,
    act: (page) => expect(page.getByRole('table', { name: 'Final configuration' })).toBeVisible(),
  },
  {
    name: 'configuration-settings',
    path: () => configurationPath(fixture.configuration.image),
    act: async (page) => {
      await page.getByRole('radio', { name: 'All', exact: true }).click()
      await expect(page.getByRole('region', { name: 'Metrics' })).toBeVisible()
    },
  },
  {
    name: 'configuration-kubernetes',
    path: () => `${configurationPath(fixture.configuration.image)}?fields=kubernetes`,
    act: (page) => expect(page.getByRole('region', { name: 'Annotations' })).toBeVisible(),
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
    path: () => `/${fixture.team}/projects/${fixture.versionless}`,
    act: async (page) => {
      await page.getByRole('button', { name: 'More actions' }).first().click()
      await page.getByRole('menuitem', { name: 'Delete project' }).click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  ...failingShots(() => fixture, everyAppearance),
  ...failing('deployments', 'dashboard', 'pipelines'),
  ...whenFull(...failing('projects', 'nodes', 'registries', 'config-bundles', 'packages', 'storages', 'audit-log')),
]

const versionPath = (id: string) => `/${fixture.team}/projects/${fixture.versioned.project}/versions/${id}`
const configurationPath = (id: string) => `/${fixture.team}/container-configurations/${id}`
const containerPath = (page: string) =>
  `/${fixture.team}/nodes/${fixture.node}/${page}?prefix=${fixture.container.prefix}&name=${fixture.container.name}`

/** The same pages when the server fails to answer their request. */
function failing(...pages: string[]): Shot[] {
  return pages.map((name) => ({
    name: `${name}-failing`,
    path: inTeam(name),
    before: (page) =>
      page.route(new RegExp(`/api/[^/]+/${name}(\\?|$)`), (route) =>
        route.fulfill({
          status: 500,
          json: { error: 'internal', message: 'Internal server error', requestId: 'r-4711' },
        }),
      ),
    act: (page) => expect(page.getByText('This could not be loaded')).toBeVisible({ timeout: 20_000 }),
  }))
}

/** A page of an account when the identity service does not answer. */
function unreachable(name: string, path: string, calls: RegExp, says: string): Shot {
  return {
    name: `${name}-unreachable`,
    path: () => path,
    before: (page) => page.route(calls, (route) => route.fulfill({ status: 503, body: 'upstream is away' })),
    act: (page) => expect(page.getByText(says)).toBeVisible({ timeout: 20_000 }),
  }
}

/** Checked only in the full run, because these pages look similar to pages that are always checked. */
function whenFull(...shots: Shot[]): Shot[] {
  return everyAppearance ? shots : []
}

type Appearance = { width: 1440 | 375; theme: 'light' | 'dark' }
const appearances: [Appearance, Appearance, Appearance, Appearance] = [
  { width: 1440, theme: 'light' },
  { width: 375, theme: 'dark' },
  { width: 1440, theme: 'dark' },
  { width: 375, theme: 'light' },
]

/** The most used pages are checked in both themes at both widths in every run. */
const checkedInAllAppearances: ReadonlySet<string> = new Set([
  ...['dashboard', 'dashboard-empty', 'teams', 'team', 'projects', 'project-versioned', 'version', 'version-read-only'],
  ...['node', 'container-inspect', 'registries', 'registry', 'storages', 'storage', 'audit-log'],
  ...['account', 'account-second-factors', 'tokens-empty'],
])

/**
 * Takes screenshots of one page and reports axe violations that are worse than minor. The page is opened with the router like a followed link, and
 * loaded again only where cached data would hide the tested state. Theme and width change in place.
 */
async function checkPage(page: Page, { name, path, before, act, see }: Shot, number: number) {
  const all = everyAppearance || checkedInAllAppearances.has(name)
  const wanted = all ? appearances : number % 2 === 0 ? appearances.slice(0, 2) : appearances.slice(2)
  const checked = all ? appearances : [wanted[(number >> 1) % 2]]
  const [first = appearances[0]] = wanted
  await turn(page, first)
  await before?.(page)
  await open(page, path(), before !== undefined)
  await settled(page, first)
  await act?.(page)
  for (const each of wanted) {
    await turn(page, each)
    const wide = await settled(page, each)
    expect.soft(wide, `nothing sticks out at ${each.width}`).toBeLessThanOrEqual(each.width)
    await see?.(page).evaluate((element) => element.scrollIntoView({ block: 'center' }))
    await page.screenshot({ path: `${directory}${name}-${each.theme}-${each.width}.png`, animations: 'disabled' })
    if (checked.includes(each)) expect.soft(await problems(page), `axe, ${each.theme}, ${each.width}`).toEqual([])
  }
  if (before) await page.unrouteAll({ behavior: 'ignoreErrors' })
}

async function turn(page: Page, { width, theme }: Appearance) {
  await page.setViewportSize({ width, height: width === 375 ? 812 : 900 })
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
}

/** Navigates with the router of the console, which resolves after everything that the new page needs is loaded. */
async function open(page: Page, path: string, reload: boolean) {
  await expect(async () => {
    if ((await dialog(page).count()) > 0) await page.keyboard.press('Escape')
    await expect(dialog(page)).toHaveCount(0, { timeout: 500 })
  }).toPass()
  const here = new URL(page.url())
  // A dialog stays open when only the search parameters change.
  const same = here.pathname === path.replace(/[?#].*/, '')
  if (reload || same || here.protocol === 'about:') return void (await page.goto(path))
  // After the network interrupted a chunk twice, the console reloads the page and the router.
  await expect(async () => {
    if (new URL(page.url()).pathname === here.pathname)
      await page.evaluate(`window.__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} })`)
  }).toPass()
}

/**
 * Waits with one evaluation, because there are hundreds of pages, until everything is loaded and rendered.
 *
 * @returns the width of the page
 */
async function settled(page: Page, { theme }: Appearance): Promise<number> {
  let width = 0
  await expect(async () => {
    width = await page.evaluate<number>(`
      document.documentElement.dataset.theme === '${theme}' && document.fonts.status === 'loaded' &&
      !document.querySelector('.skeleton, [data-loading-part]') && /\\w/.test(document.querySelector('main')?.textContent ?? '')
        ? document.documentElement.scrollWidth : 0`)
    expect(width).toBeGreaterThan(0)
  }).toPass({ timeout: 20_000, intervals: [20, 50, 100, 250] })
  return width
}

async function problems(page: Page): Promise<string[]> {
  // The script stays on the page until another one is loaded.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  // No rule that matters here reads style sheets.
  const options = JSON.stringify({ resultTypes: ['violations'], preload: false })
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`)
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`)
}

const inWhich = everyAppearance ? 'both themes and widths' : 'one theme wide, in the other narrow'
for (const [who, shots] of Object.entries({ 'signed out': withoutSession, 'signed in': withSession })) {
  test.describe(who, () => {
    // All pages share one browser context, so that they use the cache of the previous ones.
    let context: BrowserContext
    let page: Page
    test.beforeAll(async ({ browser, getSession, baseURL }) => {
      const storageState = who === 'signed out' ? signedOut : await getSession()
      context = await browser.newContext({ storageState, baseURL })
      page = await context.newPage()
    })
    test.afterAll(() => context.close())
    for (const [number, shot] of shots.entries())
      test(`${shot.name} has no accessibility or layout problem in ${inWhich}`, () => checkPage(page, shot, number))
  })
}
