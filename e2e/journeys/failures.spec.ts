import { createServer, type Server } from 'node:http'
import { createServer as createSocketServer, type Server as SocketServer } from 'node:net'
import {
  connectRegistry,
  createDeployment,
  createService,
  freePort,
  idle,
  type Registry,
  raw,
  setTag,
  startRegistry,
  type TestEnvironment,
  unique,
  web,
} from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect, test } from '../kit/journey.ts'
import { answers } from '../kit/service.ts'

/** The result of a failed release, with its actions. */
const result = (page: Page) => page.getByRole('status', { name: 'Result' })
const succeeded = (page: Page) => expect(result(page)).toContainText('1 image deployed', { timeout: 60_000 })
const again = (page: Page) => page.getByRole('button', { name: 'Deploy again' })

async function deployOnPage(page: Page, testEnvironment: TestEnvironment, deploymentId: string) {
  await page.goto(`/${testEnvironment.teamSlug}/deployments/${deploymentId}`)
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.waitForURL(/\/deploy$/)
}

/** Creates a test environment with a registry of its own, which the test may stop. */
async function withRegistry(
  testEnvironment: TestEnvironment,
  options: { auth?: boolean } = {},
): Promise<TestEnvironment & { registry: Registry }> {
  const registry = await startRegistry(options)
  const registryId = await connectRegistry(testEnvironment.user, testEnvironment.teamSlug, registry, {
    ...options,
    name: unique('failing-'),
  })
  return { ...testEnvironment, registry, registryId }
}

const listening = <S extends Server | SocketServer>(server: S, port: number, host: string) =>
  new Promise<S>((resolve, reject) => server.once('error', reject).listen(port, host, () => resolve(server)))
const closed = (server: Server | SocketServer) => new Promise<unknown>((resolve) => server.close(resolve))

test('a registry that refuses its credentials is named with what to check, and the same release works with right ones', async ({
  page,
  testSystem,
}) => {
  const testEnvironment = await withRegistry(testSystem.testEnvironment, { auth: true })
  const name = unique('refused/i')
  const service = await createService(testEnvironment, [{ name, tag: '1', image: idle(), config: { name: 'web' } }])
  const deployment = await createDeployment(testEnvironment, service, unique('refused'))
  // The password was changed in the registry, which from now on refuses all requests.
  await testEnvironment.registry.stop()
  const refusing = await listening(
    createServer((_request, answer) => {
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="changed"', 'content-type': 'application/json' })
      answer.end('{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}')
    }),
    Number(testEnvironment.registry.host.split(':')[1]),
    '127.0.0.1',
  )
  await deployOnPage(page, testEnvironment, deployment.id)
  await expect(result(page)).toContainText(
    `The registry refuses access to ${testEnvironment.registry.host}/${name}:1`,
    {
      timeout: 60_000,
    },
  )
  await expect(result(page)).toContainText("check the registry's credentials")
  await expect(page.getByText('Nothing answers')).toBeVisible()
  // No other tag has to be chosen, because the image exists.
  await expect(page.getByRole('link', { name: 'Choose another tag' })).toHaveCount(0)

  refusing.closeAllConnections()
  await closed(refusing)
  await testEnvironment.registry.start()
  await again(page).click()
  await succeeded(page)
  await testEnvironment.registry.remove()
})

test('a port that another process on the node holds is reported before the start, with a link to its field, and is free later', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const port = await freePort()
  const service = await createService(testEnvironment, [
    {
      name: unique('taken/i'),
      tag: '1',
      image: web('mine'),
      config: { name: 'web', ports: [{ internal: 8080, external: port }] },
    },
  ])
  const deployment = await createDeployment(testEnvironment, service, unique('taken'))
  const holder = await listening(createSocketServer(), port, '0.0.0.0')
  await page.goto(`/${testEnvironment.teamSlug}/deployments/${deployment.id}`)
  const problem = page.getByRole('list', { name: 'Problems to fix' }).getByRole('listitem')
  await expect(problem).toContainText(`Port ${port} is used by something else on`)
  await expect(page.getByRole('button', { name: 'Deploy', exact: true })).toHaveAttribute('aria-disabled', 'true')
  await problem.getByRole('link', { name: 'Open the field' }).click()
  await page.waitForURL(/container-configurations/)
  await expect.poll(() => page.evaluate('document.activeElement?.value')).toBe(String(port))

  await closed(holder)
  await deployOnPage(page, testEnvironment, deployment.id)
  await succeeded(page)
  await answers(port, 'mine')
})

test('an unreachable registry fails the release, does not affect running containers, and offers no rollback', async ({
  page,
  testSystem,
}) => {
  const testEnvironment = await withRegistry(testSystem.testEnvironment)
  const port = await freePort()
  const prefix = unique('down')
  const name = unique('down/i')
  const config = { name: 'web', ports: [{ internal: 8080, external: port }] }
  const service = await createService(testEnvironment, [{ name, tag: '1', image: web('one'), config }])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await deployOnPage(page, testEnvironment, deployment.id)
  await succeeded(page)

  await testEnvironment.registry.push(name, '2', web('two'))
  await setTag(testEnvironment, service, 0, '2')
  await testEnvironment.registry.stop()
  await deployOnPage(page, testEnvironment, deployment.id)
  await expect(result(page)).toContainText(
    `The registry of ${testEnvironment.registry.host}/${name}:2 does not answer`,
    {
      timeout: 60_000,
    },
  )
  await expect(page.getByRole('button', { name: /Roll back/ })).toHaveCount(0)
  await answers(port, 'one')
  expect(await raw.list(`dev.crux.prefix=${prefix}`)).toHaveLength(1)

  await testEnvironment.registry.start()
  await again(page).click()
  await succeeded(page)
  await answers(port, 'two')
  await testEnvironment.registry.remove()
})

test('a container that does not reach its expected state is shown with its timeout, last lines and configuration', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [
    {
      name: unique('late/i'),
      tag: '1',
      image: { cmd: ['/bin/sh', '-c', "trap 'exit 0' TERM; echo waiting for the database; sleep 1000 & wait"] },
      config: { name: 'migrate', expectedState: { state: 'exited', timeout: 2, exitCode: 0 } },
    },
  ])
  const prefix = unique('late')
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await deployOnPage(page, testEnvironment, deployment.id)
  await expect(result(page)).toContainText(`${prefix}-migrate did not end within 2 s`, { timeout: 60_000 })
  await page.getByRole('button', { name: 'Show the last log lines' }).click()
  await expect(page.getByText('waiting for the database').first()).toBeVisible()
  await expect(again(page)).toBeVisible()
  await page.getByRole('link', { name: 'Configure migrate' }).click()
  await page.waitForURL(/container-configurations/)
})
