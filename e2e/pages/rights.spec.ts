import { type Action, isAllowed, needs, type Permission, permissions } from '@crux/contract'
import { signUp } from '@crux/test-kit'
import type { BrowserContext } from '@playwright/test'
import { blockActions } from '../kit/actions.ts'
import { signIn } from '../kit/console.ts'
import { exerciseControls } from '../kit/exercise-controls.ts'
import { buildFixture, type Fixture } from '../kit/fixture.ts'
import { expect, signedOut, test } from '../kit/journey.ts'

// Screenshots of hundreds of clicks would take longer than the clicks.
test.use({ trace: 'off' })

/** The pages with the most controls for admins; the full run exercises all other pages too. */
const forAdmins = (fixture: Fixture) => [
  `/teams/${fixture.teamId}`,
  `/${fixture.team}/nodes`,
  `/${fixture.team}/nodes/${fixture.node}`,
  `/${fixture.team}/nodes/${fixture.newNode}`,
  `/${fixture.team}/registries/${fixture.registry}`,
]
const forUsers = (fixture: Fixture) => [
  '/teams',
  '/templates',
  `/${fixture.team}/dashboard`,
  `/${fixture.emptyTeam}/dashboard`,
  `/${fixture.team}/projects`,
  `/${fixture.team}/projects/${fixture.versionless}`,
  `/${fixture.team}/projects/${fixture.versioned.project}`,
  `/${fixture.team}/projects/${fixture.versioned.project}/versions/${fixture.versioned.version}`,
  `/${fixture.team}/projects/${fixture.versioned.project}/versions/${fixture.versioned.version}?section=deployments`,
  `/${fixture.team}/nodes/${fixture.node}?section=deployments`,
  `/${fixture.team}/registries`,
  `/${fixture.team}/config-bundles`,
  `/${fixture.team}/config-bundles/${fixture.bundle}`,
  `/${fixture.team}/packages`,
  `/${fixture.team}/packages/${fixture.package.id}`,
  `/${fixture.team}/packages/${fixture.package.id}/environments/${fixture.package.prod}`,
  `/${fixture.team}/storages`,
  `/${fixture.team}/storages/${fixture.storage}`,
  `/${fixture.team}/deployments`,
  `/${fixture.team}/deployments/${fixture.deployment.prepared}`,
  `/${fixture.team}/deployments/${fixture.deployment.failed}`,
  `/${fixture.team}/deployments/${fixture.deployment.failed}/deploy`,
  `/${fixture.team}/container-configurations/${fixture.configuration.image}`,
  `/${fixture.team}/audit-log`,
  '/composer',
]
const onNodes = [
  'node/delete-container',
  'nodes.create',
  'nodes.delete',
  'nodes.delete-script',
  'nodes.kick',
  'nodes.revoke-token',
  'nodes.start-local-agent',
  'nodes.update',
]
const full = process.env.CRUX_TEST_FULL === '1'

test('no enabled button of the role user sends a request that only admins may send', async ({
  browser,
  testSystem,
  session,
  baseURL,
}) => {
  test.setTimeout(full ? 1_800_000 : 240_000)
  const { testEnvironment } = testSystem
  const fixture = await buildFixture(testEnvironment)
  const grace = await signUp(testSystem.system.url, { firstName: 'Grace', lastName: 'Hopper' })
  const params = { teamId: fixture.teamId }
  const body = { email: grace.email, firstName: 'Grace', lastName: 'Hopper' }
  await testEnvironment.user.client.call('teams.invite', { params, body })
  await grace.client.call('users.accept-invitation', { params })
  const paths = [...forAdmins(fixture), ...(full ? forUsers(fixture) : [])]
  const crawl = async (
    context: BrowserContext,
    paths: readonly string[],
  ): Promise<{ actions: Action[]; refused: string[]; broken: string[] }> => {
    const page = await context.newPage()
    page.on('dialog', (question) => question.accept())
    const refused: string[] = []
    page.on('response', (answer) => void (answer.status() === 403 && refused.push(answer.url())))
    const actions = await blockActions(page)
    const broken: string[] = []
    page.on('pageerror', (error) => void broken.push(`${page.url()}: ${error.message}`))
    // The failure of one page does not hide those of the others.
    for (const path of paths)
      await exerciseControls(page, path, actions).catch((error: Error) => broken.push(`${path}: ${error.message}`))
    await context.close()
    return { actions: [...actions].sort(), refused, broken }
  }
  const onlyAdmins = (action: Action) => needs[action] in permissions && !isAllowed('user', needs[action] as Permission)

  const graces = await browser.newContext({ storageState: signedOut, baseURL })
  const first = await graces.newPage()
  await signIn(first, testSystem.system.url, grace)
  await first.close()
  const asUser = await crawl(graces, paths)
  expect(asUser.actions.filter(onlyAdmins)).toEqual([])
  expect(asUser.refused).toEqual([])
  expect(asUser.broken).toEqual([])
  expect(asUser.actions).toContain('node/container-command')

  // The same crawl by an owner does send all of these requests, which proves that the crawl finds them: on two pages, or on all in the full run.
  const owners = await browser.newContext({ storageState: session, baseURL })
  const asOwner = await crawl(
    owners,
    full ? paths : [`/teams/${fixture.teamId}`, `/${fixture.team}/registries/${fixture.registry}`],
  )
  expect(asOwner.broken).toEqual([])
  expect(asOwner.actions.filter(onlyAdmins)).toEqual(
    expect.arrayContaining([
      ...(full ? onNodes : []),
      'registries.create-token',
      'registries.update',
      'service-accounts.create',
      'teams.change-role',
      'teams.delete',
      'teams.invite',
      'teams.remove-user',
      'teams.update',
      'teams.update-security',
    ]),
  )
})
