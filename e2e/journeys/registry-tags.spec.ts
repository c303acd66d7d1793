import { unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

test('a long list of tags shows the date, digest and platform of the tags in view, also at its end', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment, registry } = testSystem
  const { teamSlug, user } = testEnvironment
  const prefix = unique('tags')
  const digests: string[] = []
  for (let index = 0; index < 45; index++) digests.push(await registry.push(`${prefix}/web`, `1.${index}`, {}))
  const { id } = await user.client.call('registries.create', {
    params: { teamSlug },
    body: {
      name: unique('Tags '),
      type: 'v2',
      details: { url: registry.url, imageNamePrefix: prefix, public: true },
    },
  })
  await page.goto(`/${teamSlug}/registries/${id}`)
  await page.getByRole('button', { name: 'web', exact: true }).click()
  const list = page.getByRole('list', { name: 'Tags' })
  const row = (tag: string) => list.getByRole('listitem').filter({ has: page.getByText(tag, { exact: true }) })
  for (const [index, tag] of [
    [44, '1.44'],
    [0, '1.0'],
  ] as const) {
    await list.locator('xpath=..').evaluate((box, atEnd) => box.scrollTo(0, atEnd ? box.scrollHeight : 0), index === 0)
    await expect(row(tag).locator('time')).toBeVisible()
    await expect(row(tag).getByText('linux/')).toBeVisible()
    await expect(row(tag).getByTitle(digests[index] ?? '')).toBeVisible()
  }
  await user.client.call('registries.delete', { params: { teamSlug, registryId: id } })
})
