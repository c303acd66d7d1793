import { unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'
import { startListRegistry } from '../kit/list-registry.ts'

const names = Array.from({ length: 10_000 }, (_, index) => `shop/service-${String(index).padStart(4, '0')}`)

test('the images of a registry with 10,000 of them are scrolled, reached with the keyboard and searched', async ({
  page,
  testSystem,
}) => {
  const { teamSlug, user } = testSystem.testEnvironment
  const registry = await startListRegistry(names)
  const { id } = await user.client.call('registries.create', {
    params: { teamSlug },
    body: { name: unique('Large '), type: 'v2', details: { url: registry.url, public: true } },
  })
  await page.goto(`/${teamSlug}/registries/${id}`)
  const list = page.getByRole('list', { name: 'Images' })
  const image = (name: string) => list.getByRole('button', { name, exact: true })
  await expect(image('shop/service-0000')).toBeVisible()
  await expect(page.getByText('10,000', { exact: true })).toBeVisible()
  expect(await list.getByRole('listitem').count()).toBeLessThan(60)

  await test.step('the keyboard reaches the next image and the last one, and opens it', async () => {
    await image('shop/service-0000').focus()
    await page.keyboard.press('ArrowDown')
    await expect(image('shop/service-0001')).toBeFocused()
    await page.keyboard.press('End')
    await expect(image('shop/service-9999')).toBeFocused()
    await expect(image('shop/service-9999')).toBeInViewport()
    await page.keyboard.press('Enter')
    await expect(list.getByRole('list', { name: 'Tags' }).getByText('1.0')).toBeInViewport()
    await page.keyboard.press('Enter')
    await expect(list.getByRole('list', { name: 'Tags' })).toHaveCount(0)
    await page.keyboard.press('Home')
    await expect(image('shop/service-0000')).toBeInViewport()
  })

  await test.step('scrolling into the middle requests what is in view', async () => {
    await list.locator('xpath=..').evaluate((box) => box.scrollTo(0, 5_000 * 36))
    await expect(image('shop/service-5003')).toBeVisible()
    await expect(list.locator('[aria-posinset="5004"]')).toContainText('shop/service-5003')
  })

  await test.step('the search finds any image, starts at the top and says when there is none', async () => {
    await page.getByLabel('Filter images').fill('777')
    await expect(list.getByRole('listitem')).toHaveCount(19)
    await expect(image('shop/service-0777')).toBeInViewport()
    await page.getByLabel('Filter images').fill('nothing')
    await expect(page.getByText('No image of this registry contains this text.')).toBeVisible()
    await page.getByLabel('Filter images').fill('')
    await expect(image('shop/service-0000')).toBeVisible()
  })
  await user.client.call('registries.delete', { params: { teamSlug, registryId: id } })
  await registry.stop()
})

test('a registry that limits requests is shown with the time that is left, and its images appear when it accepts requests again', async ({
  page,
  testSystem,
}) => {
  const { teamSlug, user } = testSystem.testEnvironment
  const registry = await startListRegistry(['shop/web'])
  const { id } = await user.client.call('registries.create', {
    params: { teamSlug },
    body: { name: unique('Limited '), type: 'v2', details: { url: registry.url, public: true } },
  })
  registry.limit('6')
  await page.goto(`/${teamSlug}/registries/${id}`)
  await expect(page.getByRole('heading', { name: 'The registry limits requests' })).toBeVisible()
  const { host } = new URL(registry.url)
  await expect(page.getByText(`${host} accepts no further requests for now.`)).toContainText(/again in [1-6] s\./)
  await expect(page.getByRole('alert')).toHaveCount(0)
  // The rest of the page works.
  await expect(page.getByRole('region', { name: 'Hooks' })).toBeVisible()
  registry.limit(undefined)
  await expect(page.getByRole('list', { name: 'Images' }).getByRole('button', { name: 'shop/web' })).toBeVisible()
  await expect(page.getByText('The registry limits requests')).toHaveCount(0)
  await user.client.call('registries.delete', { params: { teamSlug, registryId: id } })
  await registry.stop()
})
