import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  forwardToKubernetes,
  idle,
  kubernetesMissing,
  type Registry,
  registryAccount,
  startRegistry,
} from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'

const missing = kubernetesMissing()

describe.skipIf(missing)('images of a release on Kubernetes', () => {
  let agent: ClusterAgent
  let open: Registry
  let closed: Registry
  let reaches = false
  beforeAll(async () => {
    ;[agent, open, closed] = await Promise.all([startClusterAgent(), startRegistry(), startRegistry({ auth: true })])
    for (const { host } of [open, closed])
      reaches = await forwardToKubernetes(agent.kubeconfig, Number(host.split(':')[1]))
  })
  afterAll(async () => {
    await agent?.dispose()
    await Promise.all([open?.remove(), closed?.remove()])
  })

  /** A cluster that CRUX_TEST_KUBECONFIG names may be on another machine, from which nothing leads to this one. */
  const skipUnlessReached = (context: TestContext) =>
    context.skip(!reaches, 'the nodes of this cluster do not reach a registry of this machine')
  const toAuth = (username: string, password: string) => ({ serverAddress: closed.host, username, password })
  const rightAuth = () => toAuth(registryAccount.user, registryAccount.token)

  test('of init containers are resolved with the others, and run by their digests', async (context) => {
    skipUnlessReached(context)
    const ran = { cmd: ['/bin/sh', '-c', 'echo prepared > /cache/file'] }
    const digest = await open.push('init', '1', ran)
    await open.push('app', '1', idle())
    const initContainers = [
      {
        name: 'init',
        image: `${open.host}/init:1`,
        useParentConfig: false,
        volumes: [{ name: 'cache', path: '/cache' }],
      },
    ]
    const volumes = [{ name: 'cache', path: '/cache', type: 'tmp' as const }]
    const release = agent.release({
      instances: [{ image: `${open.host}/app:1`, config: { name: 'web', initContainers, volumes } }],
    })
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
    const template = getPath(await agent.get('Deployment', 'web'), 'spec', 'template')
    expect(template).toMatchObject({ spec: { initContainers: [{ image: `${open.host}/init@${digest}` }] } })
    const resolved = (release.key ? agent.server.listEvents(release.key) : []).flatMap(({ event }) =>
      event.case === 'resolved' ? [event.value.preparationDigests] : [],
    )
    expect(resolved).toEqual([{ [`${open.host}/init:1`]: digest }])
  })

  test('that only the nodes have run beside a container of the same origin', async () => {
    const initContainers = [
      { name: 'init', image: 'localhost/busybox:1', useParentConfig: false, command: [{ key: '/bin/true' }] },
    ]
    const config = { name: 'local', initContainers, commands: [{ key: '/bin/sleep' }], args: [{ key: '1000' }] }
    const release = agent.release({ instances: [{ config: { ...config, stopGracePeriodSeconds: 1 } }] })
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
  })

  test('are asked for with the credentials of their own registry alone', async () => {
    const seen: (string | undefined)[] = []
    const other = createServer(({ headers }, response) => {
      seen.push(headers.authorization)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="other"' }).end()
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const image = `localhost:${typeof address === 'object' ? address?.port : ''}/init:1`
    await closed.push('app', '2', idle())
    const initContainers = [{ name: 'init', image, useParentConfig: false }]
    const release = agent.release({
      instances: [{ image: `${closed.host}/app:2`, auth: rightAuth(), config: { name: 'other', initContainers } }],
    })
    const { reason } = await agent.server.deployAndWait(release)
    other.close()
    expect(reason).toMatch(new RegExp(`^the agent cannot read the digest of ${image} at its registry`))
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.every((authorization) => authorization === undefined)).toBe(true)
    expect(await agent.get('Deployment', 'other')).toBeUndefined()
  })

  test('of a registry with credentials are pulled with them, and fail with its answer where they are wrong', async (context) => {
    skipUnlessReached(context)
    const digest = await closed.push('app', '3', idle())
    const deploy = (name: string, auth: ReturnType<typeof toAuth>) =>
      agent.server.deployAndWait(
        agent.release({ instances: [{ image: `${closed.host}/app:3`, digest, auth, config: { name } }] }),
      )
    const wrong = await deploy('wrong', toAuth('crux', 'not-the-token'))
    expect(wrong.reason).toMatch(/^the image cannot be pulled \((ErrImagePull|ImagePullBackOff): .*(401|authorization)/)
    expect(wrong.reason).not.toContain('not-the-token')
    expect((await agent.list('Secret')).map(({ name }) => name)).toEqual([])
    expect(await deploy('right', rightAuth())).toMatchObject({ successful: true, reason: '' })
  })
})
