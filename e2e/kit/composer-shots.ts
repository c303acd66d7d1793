import { expect, type Page } from '@playwright/test'
import type { Shot } from './deployment-shots.ts'

const composer = () => '/composer'

/** The example stays in the tab, so the next appearance finds it there. */
async function showExample(page: Page) {
  const example = page.getByRole('button', { name: 'Use the example' })
  await expect(page.getByRole('textbox', { name: 'compose.yaml', exact: true })).toBeVisible()
  if (await example.isVisible()) await example.click()
  await expect(page.getByRole('article', { name: 'web' })).toBeVisible()
}

/** Screenshots of the composer: empty, with the example, and its .env files. */
export const composerShots: Shot[] = [
  {
    name: 'composer-empty',
    path: composer,
    act: (page) => expect(page.getByRole('textbox', { name: 'compose.yaml', exact: true })).toBeVisible(),
  },
  { name: 'composer', path: composer, act: showExample },
  {
    name: 'composer-environment',
    path: () => '/composer?section=environment',
    act: (page) => expect(page.getByRole('button', { name: 'Add .env file' })).toBeVisible(),
  },
]
