import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createDeployment,
  createService,
  deploy,
  idle,
  raw,
  registryAccount,
  startRegistry,
  startTokenRegistry,
  type TestEnvironment,
  unique,
} from '@crux/test-kit'
import { expect, test } from '../kit/test-system.ts'

/** The part of the API of a self-managed GitLab that describes a group. Its registry is a real one. */
async function startGitlabApi(group: string) {
  const server = createServer((incoming, outgoing) => {
    const json = (status: number, body: unknown) =>
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (incoming.headers.authorization !== `Bearer ${registryAccount.token}`)
      return json(401, { message: '401 Unauthorized' })
    return incoming.url === `/api/v4/groups/${group}`
      ? json(200, { id: 7, path: group })
      : json(404, { message: '404 Group Not Found' })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('the engine pulls an image of a self-managed GitLab with the user and token of the registry', async ({
  testSystem,
}) => {
  const shared = testSystem.testEnvironment
  const group = unique('company')
  const name = `${group}/shop/web`
  const registry = await startRegistry()
  const gate = await startTokenRegistry(registry)
  const api = await startGitlabApi(group)
  const { id } = await shared.user.client.call('registries.create', {
    params: { teamSlug: shared.teamSlug },
    body: {
      name: unique('GitLab '),
      type: 'gitlab',
      details: {
        namespace: 'group',
        imageNamePrefix: group,
        apiUrl: api.url,
        url: `http://${gate.host}`,
        ...registryAccount,
      },
    },
  })
  const testEnvironment: TestEnvironment = { ...shared, registry, registryId: id }
  const service = await createService(testEnvironment, [
    { name, tag: '1.0', image: { ...idle(), files: { '/etc/name': name } }, config: { name: 'web' } },
  ])
  const prefix = unique('g')
  const deployment = await createDeployment(testEnvironment, service, prefix)
  gate.realmCalls.length = 0
  gate.requests.length = 0

  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  const [container] = await raw.list(`dev.crux.prefix=${prefix}`)
  expect(container).toMatchObject({ State: 'running', Image: expect.stringContaining(`${gate.host}/${name}`) })
  // The engine itself signed in: layers are requested by nobody else, and it has one of them from nowhere else.
  const ofEngine = gate.requests.filter(({ userAgent }) => userAgent.startsWith('docker/'))
  expect(ofEngine.filter(({ line }) => line.startsWith(`GET /v2/${name}/blobs/`)).length).toBeGreaterThan(0)
  const basic = `Basic ${Buffer.from(`${registryAccount.user}:${registryAccount.token}`).toString('base64')}`
  expect(gate.realmCalls).toContainEqual({ authorization: basic, scope: `repository:${name}:pull` })
  await api.stop()
  await gate.stop()
  await registry.remove()
})
