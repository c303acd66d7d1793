import { expect, type Page, type Route } from '@playwright/test'
import type { Shot } from './deployment-shots.ts'
import type { Fixture } from './fixture.ts'

const nobody = '00000000-0000-4000-8000-000000000000'

/** Each page of a single resource: its address, the request that it needs, and the address with an unknown id. */
const details = (fixture: Fixture) => {
  const { team, versioned } = fixture
  return {
    project: [`/${team}/projects/`, versioned.project, ''],
    version: [`/${team}/projects/${versioned.project}/versions/`, versioned.version, ''],
    node: [`/${team}/nodes/`, fixture.node, ''],
    container: [`/${team}/nodes/`, fixture.node, `/inspect?prefix=${fixture.container.prefix}&name=web`],
    registry: [`/${team}/registries/`, fixture.registry, ''],
    storage: [`/${team}/storages/`, fixture.storage, ''],
    package: [`/${team}/packages/`, fixture.package.id, ''],
    environment: [`/${team}/packages/${fixture.package.id}/environments/`, fixture.package.prod, ''],
    'config-bundle': [`/${team}/config-bundles/`, fixture.bundle, ''],
    deployment: [`/${team}/deployments/`, fixture.deployment.good, ''],
    progress: [`/${team}/deployments/`, fixture.deployment.good, '/deploy'],
    configuration: [`/${team}/container-configurations/`, fixture.configuration.image, ''],
    team: ['/teams/', fixture.teamId, ''],
  } as const
}
const pages = [
  ...['project', 'version', 'node', 'container', 'registry', 'storage', 'config-bundle', 'deployment', 'progress'],
  ...['configuration', 'team', 'package', 'environment'],
] as (keyof ReturnType<typeof details>)[]

/** Pages whose resource cannot be loaded. Each shows what happened under a heading, and a link to continue. */
export function failingShots(fixture: () => Fixture, everyLook: boolean): Shot[] {
  const shot = (page: (typeof pages)[number], name: string, answer: (route: Route) => unknown, says: Says): Shot => ({
    name: `${page}-${name}`,
    path: () => details(fixture())[page].join(''),
    before: (browser) => {
      const [, id] = details(fixture())[page]
      return browser.route(new RegExp(`/api/.*/${id}$`), async (route) => void (await answer(route)))
    },
    act: (browser) => leadsOn(browser, says),
  })
  return pages.flatMap((page) => [
    {
      name: `${page}-gone`,
      path: () => {
        const [before, , after] = details(fixture())[page]
        return `${before}${nobody}${after}`
      },
      act: (browser: Page) => leadsOn(browser, gone),
    },
    shot(page, 'failing', refuse(500, 'internal'), failed),
    ...(everyLook
      ? [
          shot(page, 'forbidden', refuse(403, 'forbidden'), gone),
          shot(page, 'unreachable', (route) => route.abort('connectionrefused'), unreachable),
        ]
      : []),
  ])
}

type Says = { title: string; text: string; again: boolean }
const gone = { title: 'There is nothing here', text: 'It was deleted', again: false }
const failed = { title: 'This could not be loaded', text: 'Request r-4711', again: true }
const unreachable = { title: 'This could not be loaded', text: 'Could not reach the server.', again: true }

const refuse = (status: number, error: string) => (route: Route) =>
  route.fulfill({ status, json: { error, message: error, requestId: 'r-4711' } })

async function leadsOn(page: Page, { title, text, again }: Says): Promise<void> {
  await expect(page.getByRole('heading', { name: title, level: 1 })).toBeVisible({ timeout: 20_000 })
  await expect(page.getByRole('main').getByText(text)).toBeVisible()
  await expect(page.getByRole('main').getByRole('link', { name: 'Go to the start page' })).toBeVisible()
  await expect(page.getByRole('main').getByRole('button', { name: 'Try again' })).toHaveCount(again ? 1 : 0)
}
