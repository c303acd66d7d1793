import { type Action, isAllowed, needs, type Permission, permissions } from '@crux/contract'
import { signUp } from '@crux/test-kit'
import type { BrowserContext } from '@playwright/test'
import { blockActions } from '../kit/actions.ts'
import { signIn } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { exerciseControls } from '../kit/press.ts'
import { buildScene, type Scene } from '../kit/scene.ts'

// Hundreds of presses: their pictures would take longer than they do.
test.use({ trace: 'off' })

/** Where most is for admins; the full run presses everything else too. */
const forAdmins = (scene: Scene) => [
  `/teams/${scene.teamId}`,
  `/${scene.team}/nodes`,
  `/${scene.team}/nodes/${scene.node}`,
  `/${scene.team}/nodes/${scene.newNode}`,
  `/${scene.team}/registries/${scene.registry}`,
]
const forUsers = (scene: Scene) => [
  '/teams',
  `/${scene.team}/dashboard`,
  `/${scene.emptyTeam}/dashboard`,
  `/${scene.team}/projects`,
  `/${scene.team}/projects/${scene.versionless}`,
  `/${scene.team}/projects/${scene.versioned.project}`,
  `/${scene.team}/projects/${scene.versioned.project}/versions/${scene.versioned.version}`,
  `/${scene.team}/projects/${scene.versioned.project}/versions/${scene.versioned.version}?section=deployments`,
  `/${scene.team}/nodes/${scene.node}?section=deployments`,
  `/${scene.team}/registries`,
  `/${scene.team}/config-bundles`,
  `/${scene.team}/config-bundles/${scene.bundle}`,
  `/${scene.team}/storages`,
  `/${scene.team}/storages/${scene.storage}`,
  `/${scene.team}/deployments`,
  `/${scene.team}/deployments/${scene.deployment.prepared}`,
  `/${scene.team}/deployments/${scene.deployment.failed}`,
  `/${scene.team}/deployments/${scene.deployment.failed}/deploy`,
  `/${scene.team}/container-configurations/${scene.configuration.image}`,
  `/${scene.team}/audit-log`,
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

test('no button that a user can press asks for what only admins may', async ({ browser, stage, session, baseURL }) => {
  test.setTimeout(full ? 1_800_000 : 240_000)
  const { world } = stage
  const scene = await buildScene(world)
  const grace = await signUp(stage.system.url, { firstName: 'Grace', lastName: 'Hopper' })
  const params = { teamId: scene.teamId }
  const body = { email: grace.email, firstName: 'Grace', lastName: 'Hopper' }
  await world.person.client.call('teams.invite', { params, body })
  await grace.client.call('users.accept-invitation', { params })
  const paths = [...forAdmins(scene), ...(full ? forUsers(scene) : [])]
  const walk = async (
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
    // A page that gives trouble does not hide what the others do.
    for (const path of paths)
      await exerciseControls(page, path, actions).catch((error: Error) => broken.push(`${path}: ${error.message}`))
    await context.close()
    return { actions: [...actions].sort(), refused, broken }
  }
  const onlyAdmins = (deed: Action) => needs[deed] in permissions && !isAllowed('user', needs[deed] as Permission)

  const graces = await browser.newContext({ storageState: signedOut, baseURL })
  const first = await graces.newPage()
  await signIn(first, stage.system.url, grace)
  await first.close()
  const asUser = await walk(graces, paths)
  expect(asUser.actions.filter(onlyAdmins)).toEqual([])
  expect(asUser.refused).toEqual([])
  expect(asUser.broken).toEqual([])
  expect(asUser.actions).toContain('node/container-command')

  // The same walk by an owner does ask for all of it, so that there was something to be found: here on two pages, or on all.
  const owners = await browser.newContext({ storageState: session, baseURL })
  const asOwner = await walk(
    owners,
    full ? paths : [`/teams/${scene.teamId}`, `/${scene.team}/registries/${scene.registry}`],
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
