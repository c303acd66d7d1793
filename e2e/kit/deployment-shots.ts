import type { Deployment } from '@crux/contract'
import { expect, type Locator, type Page, type Route } from '@playwright/test'
import type { Fixture } from './fixture.ts'

export type Shot = {
  name: string
  path: () => string
  /** Prepares the answers that the page gets while it loads. */
  before?: (page: Page) => Promise<unknown>
  act?: (page: Page) => Promise<unknown>
  /** The element to scroll to before the screenshot. */
  see?: (page: Page) => Locator
}
const dialog = (page: Page) => page.getByRole('dialog')

/** Screenshots of the pages and dialogs of deployments. The fixture exists when the paths are read. */
export function deploymentShots(fixture: () => Fixture): Shot[] {
  const inTeam = (path: string) => () => `/${fixture().team}/${path}`
  const inEmptyTeam = (path: string) => () => `/${fixture().emptyTeam}/${path}`
  const deploymentPath = (id: string) => `/${fixture().team}/deployments/${id}`
  const queued = (route: Route) => showQueued(route, fixture().deployment.good)
  return [
    { name: 'deployments', path: inTeam('deployments') },
    { name: 'deployments-empty', path: inEmptyTeam('deployments') },
    {
      name: 'deployments-queued',
      path: inTeam('deployments'),
      before: (page) => page.route(/\/deployments\?/, queued),
      act: (page) => expect(page.getByText('2nd in the queue behind').first()).toBeVisible(),
    },
    {
      name: 'deployment-queued',
      path: () => deploymentPath(fixture().deployment.failed),
      before: (page) => page.route(new RegExp(`/api/[^/]+/deployments/${fixture().deployment.failed}$`), queued),
      act: (page) => expect(page.getByText('1st in the queue behind')).toBeVisible(),
    },
    { name: 'deployment-create', path: inTeam('deployments#new'), act: (page) => expect(dialog(page)).toBeVisible() },
    { name: 'deployment', path: () => deploymentPath(fixture().deployment.prepared) },
    {
      name: 'deployment-silent-ports',
      path: () => deploymentPath(fixture().deployment.prepared),
      see: (page) => page.getByText(/^Port \d+ is closed for about/),
    },
    {
      name: 'deployment-keep-ports-open',
      path: () => deploymentPath(fixture().deployment.prepared),
      act: async (page) => {
        await page.getByRole('button', { name: 'Keep its ports open' }).click()
        await expect(dialog(page)).toBeVisible()
      },
    },
    {
      name: 'deployment-roll-back',
      path: () => deploymentPath(fixture().deployment.failed),
      act: async (page) => {
        await page.getByRole('button', { name: 'Roll back', exact: true }).click()
        await expect(dialog(page).getByText('- tag 4.1')).toBeVisible()
      },
    },
    { name: 'deployment-failed', path: () => deploymentPath(fixture().deployment.failed) },
    {
      name: 'deployment-delete',
      path: () => deploymentPath(fixture().deployment.failed),
      act: async (page) => {
        await page.getByRole('button', { name: 'More actions' }).first().click()
        await page.getByRole('menuitem', { name: 'Delete' }).click()
        await dialog(page).getByRole('checkbox').click()
      },
    },
    { name: 'progress-successful', path: () => `${deploymentPath(fixture().deployment.good)}/deploy` },
    { name: 'progress-failed', path: () => `${deploymentPath(fixture().deployment.failed)}/deploy` },
  ]
}

/** Returns the same deployments, two of which wait for the one ahead of them. */
async function showQueued(route: Route, deploymentId: string) {
  const answer = await route.fetch()
  const body: Partial<Deployment> & { items?: Deployment[] } = await answer.json()
  const behind = { deploymentId, number: 3, projectName: 'Checkout', versionName: '1.0.0' }
  const waits = (queuePosition: number) => ({ status: 'in-progress', queuePosition, queuedBehind: behind }) as const
  const items = body.items?.map((item, index) => (index < 2 ? { ...item, ...waits(2 - index) } : item))
  await route.fulfill({ response: answer, json: items ? { ...body, items } : { ...body, ...waits(1) } })
}
