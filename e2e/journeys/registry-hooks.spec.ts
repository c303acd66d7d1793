import { unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

const digest = `sha256:${'0'.repeat(64)}`
const event = (type: string, name: string, at: number) => ({
  type,
  occur_at: at,
  operator: 'robot$ci',
  event_data: {
    resources: [{ digest, tag: '1.0', resource_url: `harbor.example.com/${name}:1.0` }],
    repository: { date_created: at, name, namespace: 'shop', repo_full_name: `shop/${name}`, repo_type: 'private' },
  },
})

test('the secret of a hook is shown once, its deliveries appear by themselves, and it can be deleted', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment, registry } = testSystem
  const { teamSlug, user } = testEnvironment
  const { id } = await user.client.call('registries.create', {
    params: { teamSlug },
    body: { name: unique('Hooked '), type: 'v2', details: { url: registry.url, public: true } },
  })
  await page.goto(`/${teamSlug}/registries/${id}`)
  const hooks = page.getByRole('region', { name: 'Hooks' })
  await expect(hooks.getByText('No deliveries yet')).toBeVisible()

  await hooks.getByRole('button', { name: 'Create secret' }).click()
  const dialog = page.getByRole('dialog', { name: 'Copy the secret now' })
  await expect(dialog.locator('pre')).toHaveCount(2)
  const [address, secret] = await dialog.locator('pre').allInnerTexts()
  expect(address).toMatch(new RegExp(`/api/${teamSlug}/registries/${id}/hooks/harbor$`))
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await expect(hooks.getByText(address ?? '')).toBeVisible()
  await expect(page.getByText(secret ?? '')).toHaveCount(0)

  const send = (body: object) =>
    page.request.post(address ?? '', { headers: { authorization: secret ?? '' }, data: body })
  expect((await send(event('PUSH_ARTIFACT', 'web', 1))).status()).toBe(204)
  expect((await send(event('SCANNING_COMPLETED', 'web', 2))).status()).toBe(204)
  const pushed = hooks.getByRole('row').filter({ hasText: 'PUSH_ARTIFACT' })
  await expect(pushed.getByText('shop/web:1.0')).toBeVisible({ timeout: 15_000 })
  await expect(pushed.getByText('Accepted')).toBeVisible()
  await expect(
    hooks.getByRole('row').filter({ hasText: 'SCANNING_COMPLETED' }).getByText('Unknown event'),
  ).toBeVisible()

  await hooks.getByRole('button', { name: 'Delete secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete secret' }).click()
  await expect(hooks.getByRole('button', { name: 'Create secret' })).toBeVisible()
  expect((await send(event('PUSH_ARTIFACT', 'web', 3))).status()).toBe(401)
  await user.client.call('registries.delete', { params: { teamSlug, registryId: id } })
})
