import {
  createDeployment,
  createService,
  deploy,
  finished,
  freePort,
  raw,
  setTag,
  startDeployment,
  unique,
  waitFor,
  web,
} from '@crux/test-kit'
import { createNetworkLink } from '../kit/network-link.ts'
import { getStatus, newNode } from '../kit/node.ts'
import { answers } from '../kit/service.ts'
import { expect, test } from '../kit/test-system.ts'

test('a deployment completes when the link is cut and restored during it', async ({ testSystem }) => {
  const networkLink = await createNetworkLink(testSystem.system.port)
  const { nodeId, token } = await newNode(testSystem.testEnvironment)
  const agent = testSystem.system.startAgent({
    name: unique('link'),
    token,
    nodeId,
    env: { CRUX_URL: `http://127.0.0.1:${networkLink.port}` },
  })
  await waitFor(
    'the agent is connected',
    async () => (await getStatus(testSystem.testEnvironment, nodeId)) === 'connected',
  )
  const testEnvironment = { ...testSystem.testEnvironment, nodeId }
  const name = `app/${unique('cut')}`
  const port = await freePort()
  const service = await createService(testEnvironment, [
    { name, tag: '1', image: web('one'), config: { name: 'web', ports: [{ internal: 8080, external: port }] } },
    {
      name: `${name}-job`,
      tag: '1',
      image: { cmd: ['/bin/sh', '-c', 'sleep 3; exit 0'] },
      config: { name: 'job', restartPolicy: 'no', expectedState: { state: 'exited', timeout: 60, exitCode: 0 } },
    },
  ])
  const prefix = unique('c')
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await startDeployment(testEnvironment, deployment.id)
  await waitFor('the job runs', async () => (await raw.list(`dev.crux.prefix=${prefix}`)).length === 2)
  networkLink.cut()
  await waitFor(
    'the node counts as unreachable',
    async () => (await getStatus(testEnvironment, nodeId)) === 'unreachable',
  )
  networkLink.restore()
  const result = await finished(testEnvironment, deployment.id)
  expect(result.status, result.outcome).toBe('successful')
  await answers(port, 'one')
  await agent.stop()
  await networkLink.close()
})

test('a revoked token ends the link, and the node can be installed again', async ({ testSystem }) => {
  const { nodeId, token } = await newNode(testSystem.testEnvironment)
  const agent = testSystem.system.startAgent({ name: unique('revoked'), token, nodeId })
  await waitFor(
    'the agent is connected',
    async () => (await getStatus(testSystem.testEnvironment, nodeId)) === 'connected',
  )
  const params = { teamSlug: testSystem.testEnvironment.teamSlug, nodeId }
  await testSystem.testEnvironment.user.client.call('nodes.revoke-token', { params })
  await waitFor(
    'the node counts as unreachable',
    async () => (await getStatus(testSystem.testEnvironment, nodeId)) === 'unreachable',
  )
  expect((await testSystem.testEnvironment.user.client.call('nodes.get', { params })).hasToken).toBe(false)
  await agent.stop()
  const again = await testSystem.testEnvironment.user.client.call('nodes.create-script', {
    params,
    body: { type: 'docker', scriptType: 'shell' },
  })
  expect(again.command).toContain('crux_')
  expect(again.command).not.toContain(token)
})

test('the install script loads the image and connects the agent, which then deploys', async ({ testSystem }) => {
  test.setTimeout(240_000)
  const { execFile } = await import('node:child_process')
  const { nodeId, command } = await newNode(testSystem.testEnvironment)
  const output = await new Promise<string>((resolve, reject) => {
    execFile(
      'sh',
      ['-c', command],
      { timeout: 180_000, env: { ...process.env, PERSISTENCE_FOLDER: `${testSystem.system.dataDir}/installed` } },
      (error, stdout, stderr) =>
        error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout + stderr),
    )
  })
  try {
    await waitFor(
      'the installed agent is connected',
      async () => (await getStatus(testSystem.testEnvironment, nodeId)) === 'connected',
      { timeoutMs: 60_000, everyMs: 200 },
    )
    const testEnvironment = { ...testSystem.testEnvironment, nodeId }
    const name = `app/${unique('inst')}`
    const port = await freePort()
    const service = await createService(testEnvironment, [
      {
        name,
        tag: '1',
        image: web('through the container'),
        config: { name: 'web', ports: [{ internal: 8080, external: port }] },
      },
    ])
    const deployment = await createDeployment(testEnvironment, service, unique('i'))
    const first = await deploy(testEnvironment, deployment.id)
    expect(first.status, first.outcome).toBe('successful')
    await answers(port, 'through the container')
    await testSystem.registry.push(name, '2', web('and again'))
    await setTag(testEnvironment, service, 0, '2')
    const second = await deploy(testEnvironment, deployment.id)
    expect(second.status, second.outcome).toBe('successful')
    await answers(port, 'and again')
  } catch (error) {
    throw new Error(`after this output of the script:\n${output}`, { cause: error })
  } finally {
    for (const one of await raw.list('dev.crux.service-category=_internal'))
      if (one.Names[0]?.startsWith('/crux-agent-')) await raw.remove(one.Id)
  }
})
