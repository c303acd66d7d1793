import { expect, type Page } from '@playwright/test'
import type { Shot } from './deployment-shots.ts'
import type { Fixture } from './fixture.ts'
import { boardAnswer, environmentAnswer, largeBoardAnswer, previewAnswer, promotionsAnswer } from './package-answers.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const freezeWindows = (page: Page) => page.getByRole('region', { name: 'Freeze windows' })
const dialogOpens = (page: Page) => expect(dialog(page)).toBeVisible()

/** Screenshots of the pages and dialogs of packages. Boards with every kind of cell come from answers that the test makes. */
export function packageShots(fixture: () => Fixture): Shot[] {
  const inTeam = (path: string) => () => `/${fixture().team}/${path}`
  const packagePath = () => `/${fixture().team}/packages/${fixture().package.id}`
  const environmentPath = () => `${packagePath()}/environments/${fixture().package.prod}`
  const node = () => ({ id: fixture().node, name: 'eu-1', type: 'docker' as const, status: 'connected' as const })
  const answerBoard = (page: Page) => page.route(/\/board$/, (route) => route.fulfill({ json: boardAnswer(node()) }))
  const answerAll = async (page: Page) => {
    await answerBoard(page)
    await page.route(/\/api\/.*\/environments\/[^/]+$/, (route) => route.fulfill({ json: environmentAnswer(node()) }))
    await page.route(/\/promotions\?/, (route) => route.fulfill({ json: promotionsAnswer() }))
    await page.route(/\/promotions\/preview\?/, (route) => route.fulfill({ json: previewAnswer() }))
  }
  return [
    { name: 'packages', path: inTeam('packages') },
    { name: 'packages-empty', path: () => `/${fixture().emptyTeam}/packages` },
    {
      name: 'package-create',
      path: inTeam('packages#new'),
      act: async (page) => {
        await dialogOpens(page)
        await dialog(page).getByLabel('Add from project').selectOption('Checkout')
        await expect(dialog(page).getByRole('checkbox', { name: /1\.0\.0/ })).toBeVisible()
      },
    },
    {
      name: 'package-edit',
      path: () => `${packagePath()}#edit`,
      act: (page) => expect(dialog(page).getByRole('button', { name: 'Remove Checkout' })).toBeVisible(),
    },
    { name: 'package', path: packagePath },
    {
      name: 'package-board',
      path: packagePath,
      before: answerBoard,
      act: (page) => expect(page.getByText('1.3.0 runs in staging')).toBeVisible(),
    },
    {
      name: 'package-board-large',
      path: packagePath,
      before: (page) => page.route(/\/board$/, (route) => route.fulfill({ json: largeBoardAnswer(node()) })),
      act: (page) => expect(page.getByRole('link', { name: 'service-100', exact: true })).toBeAttached(),
      see: (page) => page.getByRole('link', { name: 'service-50', exact: true }),
    },
    {
      name: 'package-board-failing',
      path: packagePath,
      before: (page) =>
        page.route(/\/board$/, (route) =>
          route.fulfill({ status: 500, json: { error: 'internal', message: 'internal', requestId: 'r-4711' } }),
        ),
      act: (page) => expect(page.getByText('This could not be loaded')).toBeVisible({ timeout: 20_000 }),
    },
    {
      name: 'package-without-environments',
      path: packagePath,
      before: (page) =>
        page.route(/\/board$/, (route) => route.fulfill({ json: { ...boardAnswer(node()), environments: [] } })),
      act: (page) => expect(page.getByText('No environments yet')).toBeVisible(),
    },
    {
      name: 'package-promote',
      path: packagePath,
      before: answerAll,
      act: async (page) => {
        await page.getByRole('button', { name: 'Promote 1.3.0 of Checkout to prod' }).click()
        await expect(dialog(page).getByText('+ CHECKOUT_EXPRESS=true')).toBeVisible()
      },
    },
    {
      name: 'environment-create',
      path: packagePath,
      act: async (page) => {
        await page.getByRole('button', { name: 'New environment' }).click()
        await dialogOpens(page)
      },
    },
    {
      name: 'environment-delete',
      path: packagePath,
      act: async (page) => {
        await page.getByRole('button', { name: 'Actions of prod' }).click()
        await page.getByRole('menuitem', { name: 'Delete' }).click()
        await expect(dialog(page)).toBeVisible()
      },
    },
    { name: 'environment', path: environmentPath },
    {
      name: 'environment-history',
      path: environmentPath,
      before: answerAll,
      act: (page) => expect(page.getByText('Refunds were wrong').first()).toBeVisible(),
      see: (page) => page.getByText('34 promotions'),
    },
    {
      name: 'environment-freeze-windows',
      path: environmentPath,
      before: answerAll,
      act: (page) => expect(freezeWindows(page).getByText('Ended')).toBeVisible(),
      see: freezeWindows,
    },
    {
      name: 'freeze-window-create',
      path: environmentPath,
      act: async (page) => {
        await freezeWindows(page).getByRole('button', { name: 'Add freeze window' }).click()
        await expect(dialog(page).getByLabel('Time zone')).toBeVisible()
      },
    },
    {
      name: 'freeze-window-edit',
      path: environmentPath,
      before: answerAll,
      act: async (page) => {
        await freezeWindows(page).getByRole('button', { name: 'Edit' }).first().click()
        await expect(dialog(page).getByLabel('End')).toBeVisible()
      },
    },
  ]
}
