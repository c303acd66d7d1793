import { createDeployment, createService, deploy, idle, raw, unique, waitFor } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect, test } from '../kit/journey.ts'
import { getStatus } from '../kit/node.ts'

async function openDialog(page: Page, action: 'Delete project' | 'Delete version') {
  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: action }).click()
  return page.getByRole('dialog')
}

const image = { tag: '1', image: idle(), config: { name: 'web' } }

test('deleting a project offers to delete its containers: kept ones keep their names, deleted ones free the prefix', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const prefix = unique('gone')
  const imageName = unique('gone/i')
  const node = await testEnvironment.user.client.call('nodes.get', {
    params: { teamSlug: testEnvironment.teamSlug, nodeId: testEnvironment.nodeId },
  })
  const deployed = async () => {
    const name = unique('Gone ')
    const service = await createService(testEnvironment, [{ ...image, name: imageName }], { name })
    const result = await deploy(testEnvironment, (await createDeployment(testEnvironment, service, prefix)).id)
    return { name, service, ...result }
  }
  const kept = await deployed()
  expect(kept.status, kept.outcome).toBe('successful')

  await page.goto(`/${testEnvironment.teamSlug}/projects/${kept.service.projectId}`)
  let dialog = await openDialog(page, 'Delete project')
  await expect(dialog.getByRole('list', { name: 'Running containers' }).getByRole('listitem')).toHaveText([
    `${node.name}prefix ${prefix}${prefix}-web`,
  ])
  await expect(dialog.getByText('keep their names, ports and prefixes')).toBeVisible()
  await expect(dialog.getByText('An admin can delete them later in the container list of their node')).toBeVisible()
  await dialog.getByRole('textbox').fill(kept.name)
  await dialog.getByRole('button', { name: 'Delete project', exact: true }).click()
  await page.waitForURL(`**/${testEnvironment.teamSlug}/projects`)
  expect(await raw.list(`dev.crux.prefix=${prefix}`)).toHaveLength(1)
  const blocked = await deployed()
  expect(blocked.status).toBe('failed')
  expect(blocked.outcome).toContain(`${prefix}-web`)

  await testEnvironment.user.client.call('containers.delete-prefix', {
    params: { teamSlug: testEnvironment.teamSlug, nodeId: testEnvironment.nodeId, prefix },
  })
  const removed = await deployed()
  expect(removed.status, removed.outcome).toBe('successful')
  await page.goto(`/${testEnvironment.teamSlug}/projects/${removed.service.projectId}`)
  dialog = await openDialog(page, 'Delete project')
  await dialog.getByRole('checkbox', { name: 'Also remove the container' }).click()
  await expect(dialog.getByText('They are stopped and removed')).toBeVisible()
  const confirm = dialog.getByRole('button', { name: 'Delete project and containers' })
  await expect(confirm).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByRole('textbox').fill(removed.name)
  await confirm.click()
  await page.waitForURL(`**/${testEnvironment.teamSlug}/projects`)
  expect(await raw.list(`dev.crux.prefix=${prefix}`)).toHaveLength(0)
  expect((await deployed()).status).toBe('successful')
})

test('deleting a version deletes its containers on request, and is refused while their node is unavailable', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const prefix = unique('vgone')
  const at = { teamSlug: testEnvironment.teamSlug, nodeId: testEnvironment.nodeId }
  const { name: nodeName } = await client.call('nodes.get', { params: at })
  const service = await createService(testEnvironment, [{ ...image, name: unique('vgone/i') }])
  await client.call('projects.convert', { params: { ...at, projectId: service.projectId } })
  expect((await deploy(testEnvironment, (await createDeployment(testEnvironment, service, prefix)).id)).status).toBe(
    'successful',
  )

  await client.call('nodes.kick', { params: at })
  await waitFor(
    'the node is away',
    async () => (await getStatus(testEnvironment, testEnvironment.nodeId)) === 'unreachable',
  )
  await page.goto(`/${testEnvironment.teamSlug}/projects/${service.projectId}/versions/${service.versionId}`)
  let dialog = await openDialog(page, 'Delete version')
  await expect(dialog.getByRole('listitem')).toContainText('not connected')
  await expect(dialog.getByRole('checkbox')).toBeDisabled()
  await expect(dialog.getByText(`${nodeName} is not connected, so its containers cannot be removed.`)).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await client.call('nodes.start-local-agent', { params: at })
  await waitFor(
    'the node is back',
    async () => (await getStatus(testEnvironment, testEnvironment.nodeId)) === 'connected',
    {
      timeoutMs: 30_000,
    },
  )
  dialog = await openDialog(page, 'Delete version')
  await dialog.getByRole('checkbox', { name: 'Also remove the container' }).click()
  await dialog.getByRole('textbox').fill('rolling')
  await dialog.getByRole('button', { name: 'Delete version and containers' }).click()
  await page.waitForURL(`**/projects/${service.projectId}`)
  expect(await raw.list(`dev.crux.prefix=${prefix}`)).toHaveLength(0)
})

test('the changelog of a deployed version is on its page, though the version cannot be edited any more', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const service = await createService(testEnvironment, [{ ...image, name: unique('log/i') }], { versioned: '1.0.0' })
  const params = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const lines = ['Faster checkout', ...Array.from({ length: 9 }, (_, index) => `- change ${index}`), 'the last line']
  await client.call('versions.update', { params, body: { name: '1.0.0', changelog: lines.join('\n') } })
  await deploy(testEnvironment, (await createDeployment(testEnvironment, service, unique('log'))).id)
  await page.goto(`/${testEnvironment.teamSlug}/projects/${service.projectId}/versions/${service.versionId}`)
  await expect(page.getByText('Already deployed, so read-only.')).toBeVisible()
  const changelog = page.getByRole('region', { name: 'Changelog' })
  await expect(changelog.getByText('Faster checkout')).toBeVisible()
  const folded = (await changelog.boundingBox())?.height ?? 0
  await changelog.getByRole('button', { name: 'Show all' }).click()
  await expect(changelog.getByRole('button', { name: 'Show less' })).toBeVisible()
  expect((await changelog.boundingBox())?.height ?? 0).toBeGreaterThan(folded + 40)
})
