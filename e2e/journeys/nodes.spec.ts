import { readFile } from 'node:fs/promises'
import {
  connectLocalNode,
  createDeployment,
  createService,
  deploy,
  idle,
  raw,
  setTag,
  unique,
  waitFor,
} from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

/** Logs 300 lines at once, then five a second for as long as it runs. */
const talker = {
  cmd: [
    '/bin/sh',
    '-c',
    "trap 'exit 0' TERM; n=0; while [ $n -lt 300 ]; do n=$((n+1)); echo line $n; done; while :; do sleep 0.2 & wait; n=$((n+1)); echo line $n; done",
  ],
}

test('an install command for another machine is not offered on loopback; one for this machine counts down and can be deleted', async ({
  page,
  testSystem,
}) => {
  const { teamSlug } = testSystem.testEnvironment
  await page.goto(`/${teamSlug}/nodes#new`)
  await page.getByLabel('Name', { exact: true }).fill(unique('far-'))
  await page.getByRole('button', { name: 'Create node' }).click()
  await page.waitForURL(/\/nodes\/[0-9a-f-]{36}/)
  await expect(page.getByText('Not connected yet')).toHaveCount(1)
  await expect(page.getByRole('note')).toContainText('Crux is reachable on this machine only.')
  await expect(page.getByRole('button', { name: 'Generate the command' })).toBeHidden()
  await page.getByText('Install an agent on this machine with a command').click()
  await page.getByRole('button', { name: 'Generate the command' }).click()
  const command = page.getByRole('code').filter({ hasText: /crux_/ }).first()
  await expect(command).toBeVisible()
  const text = await command.textContent()
  await expect(page.getByText(/^(9|10):\d\d left$/)).toBeVisible()
  await page.reload()
  await expect(command).toHaveText(text ?? '')
  await page.getByText('Show the script').click()
  await expect(page.getByRole('region', { name: 'Script' })).toContainText('Installs the Crux agent')
  await page.getByRole('button', { name: 'Delete command' }).click()
  await expect(page.getByText('Install an agent on this machine with a command')).toBeVisible()
  await expect(command).toBeHidden()
})

test('a container can be stopped, started, inspected and deleted on the page of its node, and its log can be read', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const prefix = unique('run')
  const name = unique('i')
  const service = await createService(testEnvironment, [{ name: `run/${name}`, tag: '1', image: talker }])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  const row = page.getByRole('row', { name: `${prefix}-${name}` })
  await page.goto(`/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}?prefix=${prefix}`)

  await test.step('stop and start', async () => {
    await row.getByRole('button', { name: 'Stop' }).click()
    const question = page.getByRole('dialog', { name: `Stop ${prefix}-${name}?` })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await expect(row.getByText('Running')).toBeVisible()
    await row.getByRole('button', { name: 'Stop' }).click()
    await question.getByRole('button', { name: 'Stop' }).click()
    await expect(row.getByText('Stopped by Ada Lovelace')).toBeVisible({ timeout: 30_000 })
    await expect(page.getByRole('radio', { name: 'Stopped 1' })).toBeVisible()
    await row.getByRole('button', { name: 'Start', exact: true }).click()
    await expect(row.getByText('Running')).toBeVisible({ timeout: 30_000 })
    await row.getByRole('button', { name: 'Restart' }).click()
    await expect(row.getByText('Restarting')).toBeVisible()
    await expect(row.getByText('Running')).toBeVisible({ timeout: 30_000 })
  })

  await test.step('what the engine does by itself is seen too', async () => {
    const [container] = await raw.list(`dev.crux.prefix=${prefix}`)
    await raw.stop(container?.Id ?? '')
    await expect(row.getByText('Exited 0')).toBeVisible()
    await raw.start(container?.Id ?? '')
    await expect(row.getByText('Running')).toBeVisible()
  })

  await test.step('its log: followed, from more of the past, searched', async () => {
    await row.getByRole('button', { name: 'Log', exact: true }).click()
    const lines = page.getByRole('region', { name: 'Log lines' })
    await expect(lines.getByText(/^line \d+$/).first()).toBeVisible()
    const count = page.getByText(/^\d[\d,]* lines$/)
    const counted = async () => Number((await count.textContent())?.replace(/\D/g, ''))
    const first = await counted()
    await expect.poll(counted).toBeGreaterThan(first)
    await page.getByRole('radio', { name: '1,000', exact: true }).click()
    await expect.poll(counted).toBeGreaterThan(250)
    await page.getByRole('button', { name: 'Find in the log' }).click()
    await page.getByRole('searchbox', { name: 'Find in the log' }).fill('line 299')
    await expect(page.getByText(/^\d+ match(es)?$/)).toBeVisible()
    await page.keyboard.press('Enter')
    await expect(page.getByText(/^\d+ of \d+$/)).toBeVisible()
    await expect(lines.locator('mark').first()).toBeVisible()
  })

  await test.step('its log: downloaded from its first line', async () => {
    const saving = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download whole log' }).click()
    const file = await saving
    expect(file.suggestedFilename()).toBe(`${prefix}-${name}.log`)
    const text = await readFile(await file.path(), 'utf8')
    expect(text.split('\n')[0]).toMatch(/^\S+Z line 1$/)
    expect(text).toContain('line 299')
  })

  await test.step('inspect', async () => {
    await page.getByRole('link', { name: 'Inspect' }).click()
    await expect(page.getByText(`${prefix}-${name}`).first()).toBeVisible()
    await page.getByRole('radio', { name: 'JSON' }).click()
    await expect(page.getByText('"Config"', { exact: false }).first()).toBeVisible()
  })

  await test.step('its own page: state, deployment, actions, and a search in what the engine tells', async () => {
    await page.goto(`/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}?prefix=${prefix}`)
    await row.click()
    await expect(page.getByRole('heading', { name: `${prefix}-${name}`, level: 1 })).toBeVisible()
    const about = page.getByRole('region', { name: 'About this container' })
    await expect(about.getByRole('link', { name: 'release 1' })).toBeVisible()
    const details = page.getByRole('region', { name: 'Details from the engine' })
    await expect(details.getByText('Status', { exact: true })).toBeVisible()
    await expect(details.getByText('Exit code')).toBeHidden()
    await details.getByRole('searchbox').fill('RestartPolicy.Name')
    await expect(details.getByText('HostConfig.RestartPolicy.Name')).toBeVisible()
    await expect(details.getByText('Status', { exact: true })).toBeHidden()
    await details.getByRole('searchbox').fill('')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await expect(page.getByText('Stopped by Ada Lovelace')).toBeVisible({ timeout: 30_000 })
    await expect(details.getByText('Exit code')).toBeVisible()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await expect(details.getByText('Exit code')).toBeHidden({ timeout: 30_000 })
    await about.getByRole('link', { name: 'release 1' }).click()
    await page.waitForURL(`**/deployments/${deployment.id}/deploy?try=1`)
  })

  await test.step('the page of a container that is not there says so and leads to the others', async () => {
    await page.goto(`/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}/inspect?prefix=${prefix}&name=gone`)
    await expect(page.getByText('There is no such container')).toBeVisible()
    await page.getByRole('button', { name: "Show the node's containers" }).click()
    await expect(page.getByRole('row', { name: `${prefix}-${name}` })).toBeVisible()
  })

  await test.step('delete', async () => {
    await page.goto(`/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}?prefix=${prefix}`)
    await row.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(row).toBeHidden({ timeout: 30_000 })
    expect(await raw.list(`dev.crux.prefix=${prefix}`)).toHaveLength(0)
  })
})

test('images that no container and no release needs can be selected and deleted, and the others stay', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const name = `keep/${unique('i')}`
  const service = await createService(testEnvironment, [{ name, tag: '1', image: idle(`release 1 of ${name}`) }])
  const deployment = await createDeployment(testEnvironment, service, unique('images'))
  for (const tag of ['1', '2', '3', '4']) {
    if (tag !== '1') {
      await testEnvironment.registry.push(name, tag, idle(`release ${tag} of ${name}`))
      await setTag(testEnvironment, service, 0, tag)
    }
    expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  }
  await page.goto(`/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}?section=images`)
  await page.getByRole('searchbox', { name: 'Filter by name, state or use' }).fill(name)
  const rows = page.getByRole('row', { name })
  await expect(rows).toHaveCount(4)
  await expect(rows.filter({ hasText: /, release \d/ })).toHaveCount(2)
  await expect(rows.filter({ hasText: 'In use' }).getByRole('checkbox')).toBeDisabled()
  const free = rows.filter({ hasText: 'Not needed' })
  await expect(page.getByRole('button', { name: 'Remove' })).toHaveAttribute('aria-disabled', 'true')
  await free.getByRole('checkbox').click()
  await page.getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByRole('dialog')).toContainText(/Frees up to [\d.]+ [kM]B/)
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByText('1 image removed')).toBeVisible({ timeout: 30_000 })
  await expect(rows).toHaveCount(3)
  await expect(free).toHaveCount(0)
})

test('an agent is disconnected and its token revoked only after a confirmation, and the events show it', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const name = unique('spare-')
  const nodeId = await connectLocalNode(testEnvironment.user, testEnvironment.teamSlug, name)
  await page.goto(`/${testEnvironment.teamSlug}/nodes/${nodeId}`)
  await expect(page.getByRole('main').getByText('Connected', { exact: true })).toBeVisible()

  const act = async (action: string) => {
    await page.getByRole('button', { name: 'More actions' }).first().click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  await act('Disconnect the agent')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('main').getByText('Connected', { exact: true })).toBeVisible()
  await act('Disconnect the agent')
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect the agent' }).click()
  await expect(page.getByText(`Agent of ${name} disconnected`)).toBeVisible()
  await expect(page.getByRole('main').getByText('Unreachable', { exact: true })).toBeVisible()

  await page.getByRole('link', { name: 'Events' }).click()
  for (const event of ['Disconnected by a user', 'Connected', 'Installed'])
    await expect(page.getByRole('table').getByText(event, { exact: true }).first()).toBeVisible()

  await act('Revoke the token')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the token' }).click()
  await expect(page.getByText('Not connected yet')).toBeVisible()
  await waitFor('the token is gone', async () => {
    const node = await testEnvironment.user.client.call('nodes.get', {
      params: { teamSlug: testEnvironment.teamSlug, nodeId },
    })
    return !node.hasToken
  })
})
