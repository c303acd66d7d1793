import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createDeployment, createService, deploy, engine, idle, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { expect, test } from '../kit/journey.ts'
import { agentDirectory, agentPid } from '../kit/node.ts'
import type { TestSystem } from '../kit/test-system.ts'
import { recordTraffic } from '../kit/traffic.ts'

type TestEnvironment = TestSystem['testEnvironment']
const section = (page: Page) => page.getByRole('region', { name: 'Secrets', exact: true })
const getRow = (page: Page, key: string) => section(page).locator(`[data-part="secrets.${key}"]`)
const getInput = (page: Page, key: string) => section(page).getByLabel(`Secret value of ${key}`, { exact: true })
const getState = (page: Page, key: string) => getRow(page, key).locator('[data-state]')
const save = (page: Page) => section(page).getByRole('button', { name: 'Encrypt and save' }).click()
const named = (key: string, required: boolean) => ({ id: crypto.randomUUID(), key, required })

async function prepare(testEnvironment: TestEnvironment) {
  const service = await createService(testEnvironment, [
    {
      name: `secret/${unique('a')}`,
      tag: '1',
      image: idle('ready'),
      config: { name: 'web', secrets: [named('DB_PASSWORD', true), named('EXTRA', false)] },
    },
  ])
  const prefix = unique('secret')
  const { id } = await createDeployment(testEnvironment, service, prefix)
  const params = { teamSlug: testEnvironment.teamSlug, deploymentId: id }
  const { instances } = await testEnvironment.user.client.call('deployments.get', { params })
  const configId = instances[0]?.config.id ?? ''
  return { id, prefix, configId, path: `/${testEnvironment.teamSlug}/container-configurations/${configId}` }
}

test('a required secret is requested, entered, deployed, and requested again with a new key of the node', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { id, prefix, path } = await prepare(testEnvironment)
  const value = `s3cr3t-${randomBytes(12).toString('hex')}`
  const second = `again-${randomBytes(12).toString('hex')}`
  const traffic = recordTraffic(page)

  await page.goto(`/${testEnvironment.teamSlug}/deployments/${id}`)
  const problem = page.getByRole('listitem').filter({ hasText: 'the required secret DB_PASSWORD has no value' })
  await expect(problem).toBeVisible()
  await problem.getByRole('link', { name: 'Open the field' }).click()
  await expect(getState(page, 'DB_PASSWORD')).toHaveText('Required, not set')
  await expect(getRow(page, 'DB_PASSWORD').getByText('Required by image')).toBeVisible()

  // Pasted lines go to the rows of their keys, and new keys get new rows.
  await getInput(page, 'DB_PASSWORD').focus()
  await paste(page, `DB_PASSWORD=${value}\nOWN_KEY="two words"\n`)
  await expect(getInput(page, 'DB_PASSWORD')).toHaveValue(value)
  await expect(getInput(page, 'OWN_KEY')).toHaveValue('two words')
  await expect(getInput(page, 'DB_PASSWORD')).toHaveCSS('-webkit-text-security', 'disc')
  await section(page).getByRole('button', { name: 'Show typed values' }).click()
  await expect(getInput(page, 'DB_PASSWORD')).toHaveCSS('-webkit-text-security', 'none')

  // Switching to the JSON tab keeps the typed value and does not show it; leaving the page requires a confirmation.
  await page.getByRole('radio', { name: 'JSON' }).click()
  await expect(page.locator('.cm-content')).toBeVisible()
  expect(await page.content()).not.toContain(value)
  await page.getByRole('radio', { name: 'Form' }).click()
  await expect(getInput(page, 'DB_PASSWORD')).toHaveValue(value)
  await page.getByRole('link', { name: 'Deployments', exact: true }).first().click()
  const question = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await expect(question.getByText('Leave without saving the secrets?')).toBeVisible()
  await page.keyboard.press('Escape')
  await save(page)
  await expect(getState(page, 'DB_PASSWORD')).toHaveText('Encrypted')
  await expect(getState(page, 'OWN_KEY')).toHaveText('Encrypted')

  await deploy(testEnvironment, id)
  const container = await engine<{ Config: { Env: string[] } }>('GET', `/containers/${prefix}-web/json`)
  expect(container.Config.Env).toEqual(expect.arrayContaining([`DB_PASSWORD=${value}`, 'OWN_KEY=two words']))
  expect(container.Config.Env.join()).not.toContain('EXTRA')
  await expect(getState(page, 'DB_PASSWORD')).toHaveText('On the node')

  // The views of a container show no values of its secrets.
  const of = `prefix=${prefix}&name=web`
  for (const place of [
    `nodes/${testEnvironment.nodeId}/inspect?${of}`,
    `nodes/${testEnvironment.nodeId}/log?${of}`,
    `deployments/${id}/log`,
  ]) {
    await page.goto(`/${testEnvironment.teamSlug}/${place}`)
    await expect(page.getByText(/ready|DB_PASSWORD|Started by/).first()).toBeVisible()
    expect(await page.content()).not.toContain(value)
  }
  const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])'
  expect(await page.evaluate(kept)).not.toContain(value)

  // The agent loses its keys, as after a new installation, and creates new ones.
  await page.goto(path)
  await expect(getState(page, 'DB_PASSWORD')).toHaveText('On the node')
  for (const name of ['secret.key', 'public.key'])
    for (const file of filesBelow(agentDirectory(testSystem)).filter((one) => one.endsWith(`/${name}`))) rmSync(file)
  process.kill(agentPid(testSystem), 'SIGKILL')
  await expect(getState(page, 'DB_PASSWORD')).toHaveText('Enter again', { timeout: 40_000 })
  await expect(section(page).getByRole('alert')).toContainText('has a new key and can no longer read 2 values')
  await getRow(page, 'OWN_KEY').getByRole('button', { name: 'Remove OWN_KEY' }).click()
  await getInput(page, 'DB_PASSWORD').fill(second)
  await save(page)
  await expect(getState(page, 'DB_PASSWORD')).toHaveText(/Encrypted|On the node/)
  await expect(getRow(page, 'OWN_KEY')).toBeHidden()
  await deploy(testEnvironment, id)
  const replaced = await engine<{ Config: { Env: string[] } }>('GET', `/containers/${prefix}-web/json`)
  expect(replaced.Config.Env).toContain(`DB_PASSWORD=${second}`)
  expect(replaced.Config.Env.join()).not.toContain('OWN_KEY')

  // Only the container has the value: no table, no file of the installation or the agent, no browser request or answer contains it.
  const sent = await traffic.text()
  expect(sent, 'the record of the traffic holds what was sent').toContain('BEGIN PGP MESSAGE')
  const rows = await wholeDatabase(testSystem.system.databaseUrl)
  expect(rows, 'the dump holds what is stored').toContain('BEGIN PGP MESSAGE')
  for (const secret of [value, second]) {
    expect(sent.includes(secret), 'in the traffic of the browser').toBe(false)
    expect(rows.includes(secret), 'in the database').toBe(false)
    expect(filesWith(testSystem.system.dataDir, secret), 'in files of the installation').toEqual([])
  }
})

test('a node that was never connected accepts no value, and the page shows what to do', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const { id, path } = await prepare(testEnvironment)
  const node = await client.call('nodes.create', {
    params: { teamSlug: testEnvironment.teamSlug },
    body: { name: unique('node-') },
  })
  const params = { teamSlug: testEnvironment.teamSlug, deploymentId: id }
  const copy = await client.call('deployments.copy', { params, body: { nodeId: node.id, prefix: unique('copied') } })
  const { instances } = await client.call('deployments.get', { params: { ...params, deploymentId: copy.id } })
  await page.goto(path.replace(/[^/]+$/, instances[0]?.config.id ?? ''))
  await expect(section(page).getByText(`${node.name} has never connected`)).toBeVisible()
  await expect(getInput(page, 'DB_PASSWORD')).toBeDisabled()
})

/** Pastes into the focused element without the clipboard of the machine. */
const paste = (page: Page, text: string) =>
  page.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', ${JSON.stringify(text)})
    const pasted = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    document.activeElement.dispatchEvent(pasted)
  }`)

/** Every row of every Crux table as text. */
async function wholeDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const tables = await client.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const dumps: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`)
    dumps.push(...rows.map(({ row }) => row))
  }
  await client.end()
  return dumps.join('\n')
}

/** Logs, the data directory of the agent with its journal, and the cluster with its write-ahead log. */
const filesWith = (directory: string, text: string): string[] =>
  filesBelow(directory).filter((file) => {
    try {
      return readFileSync(file).includes(text)
    } catch {
      // The file was deleted in the meantime.
      return false
    }
  })

const filesBelow = (directory: string): string[] =>
  readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    try {
      const found = statSync(path)
      return found.isDirectory() ? filesBelow(path) : found.isFile() ? [path] : []
    } catch {
      return []
    }
  })
