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
import { layCable } from '../kit/cable.ts'
import { newNode, statusOf } from '../kit/node.ts'
import { answers } from '../kit/service.ts'
import { expect, test } from '../kit/stage.ts'

test('the link is cut in the middle of a deployment and comes back: it goes on to its end', async ({ stage }) => {
  const cable = await layCable(stage.system.port)
  const { nodeId, token } = await newNode(stage.world)
  const agent = stage.system.startAgent({
    name: unique('cable'),
    token,
    nodeId,
    env: { CRUX_URL: `http://127.0.0.1:${cable.port}` },
  })
  await waitFor('the agent is connected', async () => (await statusOf(stage.world, nodeId)) === 'connected')
  const world = { ...stage.world, nodeId }
  const name = `app/${unique('cut')}`
  const port = await freePort()
  const service = await createService(world, [
    { name, tag: '1', image: web('one'), config: { name: 'web', ports: [{ internal: 8080, external: port }] } },
    {
      name: `${name}-job`,
      tag: '1',
      image: { cmd: ['/bin/sh', '-c', 'sleep 3; exit 0'] },
      config: { name: 'job', restartPolicy: 'no', expectedState: { state: 'exited', timeout: 60, exitCode: 0 } },
    },
  ])
  const prefix = unique('c')
  const deployment = await createDeployment(world, service, prefix)
  await startDeployment(world, deployment.id)
  await waitFor('the job runs', async () => (await raw.list(`dev.crux.prefix=${prefix}`)).length === 2)
  cable.cut()
  await waitFor('the node counts as unreachable', async () => (await statusOf(world, nodeId)) === 'unreachable')
  cable.mend()
  const result = await finished(world, deployment.id)
  expect(result.status, result.outcome).toBe('successful')
  await answers(port, 'one')
  await agent.stop()
  await cable.close()
})

test('a token that was revoked ends the link, and the node can be installed anew', async ({ stage }) => {
  const { nodeId, token } = await newNode(stage.world)
  const agent = stage.system.startAgent({ name: unique('revoked'), token, nodeId })
  await waitFor('the agent is connected', async () => (await statusOf(stage.world, nodeId)) === 'connected')
  const params = { teamSlug: stage.world.teamSlug, nodeId }
  await stage.world.person.client.call('nodes.revoke-token', { params })
  await waitFor('the node counts as unreachable', async () => (await statusOf(stage.world, nodeId)) === 'unreachable')
  expect((await stage.world.person.client.call('nodes.get', { params })).hasToken).toBe(false)
  await agent.stop()
  const again = await stage.world.person.client.call('nodes.create-script', {
    params,
    body: { type: 'docker', scriptType: 'shell' },
  })
  expect(again.command).toContain('crux_')
  expect(again.command).not.toContain(token)
})

test('the install script runs for real: image loaded, container connected, a deployment made through it', async ({
  stage,
}) => {
  test.setTimeout(240_000)
  const { execFile } = await import('node:child_process')
  const { nodeId, command } = await newNode(stage.world)
  const output = await new Promise<string>((resolve, reject) => {
    execFile(
      'sh',
      ['-c', command],
      { timeout: 180_000, env: { ...process.env, PERSISTENCE_FOLDER: `${stage.system.dataDir}/installed` } },
      (error, stdout, stderr) =>
        error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout + stderr),
    )
  })
  try {
    await waitFor(
      'the installed agent is connected',
      async () => (await statusOf(stage.world, nodeId)) === 'connected',
      { timeoutMs: 60_000, everyMs: 200 },
    )
    const world = { ...stage.world, nodeId }
    const name = `app/${unique('inst')}`
    const port = await freePort()
    const service = await createService(world, [
      {
        name,
        tag: '1',
        image: web('through the container'),
        config: { name: 'web', ports: [{ internal: 8080, external: port }] },
      },
    ])
    const deployment = await createDeployment(world, service, unique('i'))
    const first = await deploy(world, deployment.id)
    expect(first.status, first.outcome).toBe('successful')
    await answers(port, 'through the container')
    await stage.registry.push(name, '2', web('and again'))
    await setTag(world, service, 0, '2')
    const second = await deploy(world, deployment.id)
    expect(second.status, second.outcome).toBe('successful')
    await answers(port, 'and again')
  } catch (error) {
    throw new Error(`after this output of the script:\n${output}`, { cause: error })
  } finally {
    for (const one of await raw.list('dev.crux.service-category=_internal'))
      if (one.Names[0]?.startsWith('/crux-agent-')) await raw.remove(one.Id)
  }
})
