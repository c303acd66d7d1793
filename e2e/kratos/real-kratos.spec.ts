import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createClient } from '@crux/client'
import { contract } from '@crux/contract'
import type { System } from '@crux/dev-env'
import { provideTestCluster, testDatabase } from '@crux/postgres'
import {
  createDeployment,
  createService,
  createTestEnvironment,
  freePort,
  idle,
  removeContainers,
  startRegistry,
  unique,
  waitFor,
} from '@crux/test-kit'
import { expect, test } from '@playwright/test'
import { createAccount, newAccount, signIn } from '../kit/console.ts'
import { type Mailbox, openMailbox } from '../kit/mail.ts'
import { useOriginal } from '../kit/original.ts'
import { startSystem } from '../kit/test-system.ts'

/**
 * Runs the console and the server against a real Ory Kratos instead of the Crux identity service: that of the directory `CRUX_KRATOS`, or of
 * `../shared/kratos` beside the checkout. Its script runs it: `kratos serve DSN PUBLIC_PORT ADMIN_PORT`, with the address of the console in
 * KRATOS_UI.
 */
const directory = useOriginal()

type Ending = () => Promise<unknown>
const endings: Ending[] = []
let mailbox: Mailbox
let system: System

test.beforeAll(async () => {
  test.setTimeout(900_000)
  const [port, publicPort, adminPort] = [await freePort(), await freePort(), await freePort()]
  mailbox = await openMailbox()
  endings.push(() => mailbox.close())
  const cluster = await provideTestCluster()
  endings.push(() => cluster.stop())
  const database = await testDatabase({ key: 'kratos', migrate: async () => undefined })
  endings.push(() => database.drop())
  const url = `http://localhost:${port}`
  const kratos = spawn(join(directory, 'kratos'), ['serve', database.url, String(publicPort), String(adminPort)], {
    env: {
      ...process.env,
      KRATOS_UI: url,
      KRATOS_PUBLIC_URL: `${url}/kratos`,
      KRATOS_SMTP: mailbox.uri,
      LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  endings.push(async () => {
    if (kratos.exitCode !== null) return
    kratos.kill('SIGTERM')
    await once(kratos, 'exit')
  })
  const identityPublicUrl = `http://127.0.0.1:${publicPort}`
  await waitFor(
    'Kratos is ready',
    async () => (await fetch(`${identityPublicUrl}/health/ready`).catch(() => undefined))?.ok,
    { timeoutMs: 840_000 },
  )
  system = await startSystem({
    port,
    smtpUri: mailbox.uri,
    env: { IDENTITY_PUBLIC_URL: identityPublicUrl, IDENTITY_ADMIN_URL: `http://127.0.0.1:${adminPort}` },
  })
  endings.push(() => system.destroy())
})
test.afterAll(async () => {
  for (const end of endings.reverse()) await end()
})

test('with a real Ory Kratos, a user registers, confirms the address, signs in, deploys and signs out', async ({
  page,
  context,
}) => {
  const account = newAccount()
  await createAccount(page, system.url, account)
  await page.waitForURL(/\/auth\/verify/)
  await page.getByLabel('Code').fill(await mailbox.codeFor(account.email))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.waitForURL(/\/auth\/login|\/teams\/create/)
  await context.clearCookies()
  await signIn(page, system.url, account)
  await page.waitForURL('**/teams/create')

  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const headers = () => ({ cookie })
  const client = createClient({ baseUrl: system.url, headers, validate: contract })
  const registry = await startRegistry()
  const testEnvironment = await createTestEnvironment(
    { ...account, sessionToken: '', headers, client, live: unused },
    registry,
  )
  try {
    const service = await createService(testEnvironment, [{ name: `real/${unique('a')}`, tag: '1', image: idle() }])
    const deployment = await createDeployment(testEnvironment, service, unique('p'))
    await page.goto(`${system.url}/${testEnvironment.teamSlug}/deployments/${deployment.id}`)
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.waitForURL('**/deploy')
    await expect(page.getByText('Successful', { exact: true }).first()).toBeVisible({ timeout: 60_000 })
  } finally {
    await removeContainers(`dev.crux.team=${testEnvironment.teamId}`)
    await registry.remove()
  }
  await page.goto(`${system.url}/auth/logout`)
  await page.waitForURL(/\/auth\/login/)
  await page.goto(`${system.url}/teams`)
  await page.waitForURL(/\/auth\/login\?return_to/)
})

function unused(): never {
  throw new Error('this journey needs no live channel of its own')
}
