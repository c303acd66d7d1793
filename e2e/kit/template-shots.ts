import { expect } from '@playwright/test'
import type { Shot } from './deployment-shots.ts'

/** Screenshots of the page of templates and of its form. */
export const templateShots: readonly Shot[] = [
  { name: 'templates', path: () => '/templates' },
  {
    name: 'template-create',
    path: () => '/templates',
    act: async (page) => {
      await page.getByRole('button', { name: 'Add WordPress' }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
    },
  },
]
