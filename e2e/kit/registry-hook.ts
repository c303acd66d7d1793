import type { TestEnvironment } from '@crux/test-kit'
import type { Page } from '@playwright/test'

/** Makes the registry report pushes with the configuration that its page shows. */
export async function configureHook(page: Page, { teamSlug, registryId, registry }: TestEnvironment) {
  await page.goto(`/${teamSlug}/registries/${registryId}`)
  const hooks = page.getByRole('region', { name: 'Hooks' })
  await hooks.getByRole('button', { name: 'Create token' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()
  const shown = page.getByRole('region', { name: 'Notifications in the configuration of the registry' })
  await registry.configure((await shown.textContent()) ?? '')
  await page.getByRole('button', { name: 'I have copied it' }).click()
}
