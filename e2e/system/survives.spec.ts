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
import { agentPid } from '../kit/node.ts'
import { answers, toAnswer } from '../kit/service.ts'
import { expect, type TestSystem, test } from '../kit/test-system.ts'

/** A service whose next release takes seconds to be verified, so that a process can be killed in the middle. */
async function slowReplacement(testSystem: TestSystem) {
  const name = `app/${unique('slow')}`
  const port = await freePort()
  const service = await createService(testSystem.testEnvironment, [
    { name, tag: '1', image: web('one'), config: { name: 'web', ports: [{ internal: 8080, external: port }] } },
    {
      name: `${name}-job`,
      tag: '1',
      image: { cmd: ['/bin/sh', '-c', 'sleep 4; exit 0'] },
      config: { name: 'job', restartPolicy: 'no', expectedState: { state: 'exited', timeout: 60, exitCode: 0 } },
    },
  ])
  const prefix = unique('s')
  const deployment = await createDeployment(testSystem.testEnvironment, service, prefix)
  const first = await deploy(testSystem.testEnvironment, deployment.id)
  expect(first.status, first.outcome).toBe('successful')
  await testSystem.registry.push(name, '2', web('two'))
  await testSystem.registry.push(`${name}-job`, '2', { cmd: ['/bin/sh', '-c', 'sleep 4; echo second; exit 0'] })
  await setTag(testSystem.testEnvironment, service, 0, '2')
  await setTag(testSystem.testEnvironment, service, 1, '2')
  await startDeployment(testSystem.testEnvironment, deployment.id)
  await waitFor('the new ones are being started', async () =>
    (
      await testSystem.testEnvironment.user.client.call('deployments.log', {
        params: { teamSlug: testSystem.testEnvironment.teamSlug, deploymentId: deployment.id },
        query: { skip: 0, take: 500, try: 2 },
      })
    ).items.some((event) => event.phase?.phase === 'verify' && event.phase.state === 'running'),
  )
  return { port, prefix, deployment }
}

async function expectDone(testSystem: TestSystem, deployed: Awaited<ReturnType<typeof slowReplacement>>) {
  const result = await finished(testSystem.testEnvironment, deployed.deployment.id, { timeoutMs: 80_000 })
  expect(result.status, result.outcome).toBe('successful')
  await answers(deployed.port, 'two')
  const containers = await raw.list(`dev.crux.prefix=${deployed.prefix}`)
  expect(containers.map((one) => one.Names[0]).sort()).toEqual([`/${deployed.prefix}-job`, `/${deployed.prefix}-web`])
  const sequences = result.events.map((event) => event.sequence)
  expect(new Set(sequences).size, 'no event twice').toBe(sequences.length)
}

test('the agent is killed during a deployment, and continues it', async ({ testSystem }) => {
  const deployed = await slowReplacement(testSystem)
  process.kill(agentPid(testSystem), 'SIGKILL')
  await expectDone(testSystem, deployed)
})

test('the server is killed during a deployment, and continues it', async ({ testSystem }) => {
  const deployed = await slowReplacement(testSystem)
  await testSystem.system.kill('server', 'SIGKILL')
  await testSystem.system.whenReady('server')
  await expectDone(testSystem, deployed)
})

test('PostgreSQL is killed during a deployment, and no data is lost', async ({ testSystem }) => {
  const deployed = await slowReplacement(testSystem)
  await testSystem.system.kill('postgres', 'SIGKILL')
  await waitFor('the server serves again', async () => (await fetch(`${testSystem.system.url}/health/ready`)).ok, {
    timeoutMs: 60_000,
    everyMs: 100,
  })
  await expectDone(testSystem, deployed)
})

test('a deployment keeps answering while PostgreSQL and the server are killed, and a second start replaces it', async ({
  testSystem,
}) => {
  const deployed = await slowReplacement(testSystem)
  await expectDone(testSystem, deployed)
  await Promise.all([testSystem.system.kill('postgres', 'SIGKILL'), testSystem.system.kill('server', 'SIGKILL')])
  expect(await toAnswer(deployed.port)).toBe('two')
  await waitFor('the server serves again', async () => (await fetch(`${testSystem.system.url}/health/ready`)).ok, {
    timeoutMs: 60_000,
    everyMs: 100,
  })
  await waitFor(
    'the agent is back',
    async () =>
      (
        await testSystem.testEnvironment.user.client.call('nodes.get', {
          params: { teamSlug: testSystem.testEnvironment.teamSlug, nodeId: testSystem.testEnvironment.nodeId },
        })
      ).status === 'connected',
    { timeoutMs: 60_000 },
  )
  const again = await deploy(testSystem.testEnvironment, deployed.deployment.id)
  expect(again.status, again.outcome).toBe('successful')
})

test('two concurrent starts: one is accepted, the other is refused', async ({ testSystem }) => {
  const name = `app/${unique('twice')}`
  const service = await createService(testSystem.testEnvironment, [
    { name, tag: '1', image: web('one'), config: { name: 'web' } },
  ])
  const deployment = await createDeployment(testSystem.testEnvironment, service, unique('w'))
  const starts = await Promise.allSettled(
    Array.from({ length: 5 }, () => startDeployment(testSystem.testEnvironment, deployment.id)),
  )
  expect(starts.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
  for (const one of starts) if (one.status === 'rejected') expect([409, 412]).toContain(one.reason.status)
  const result = await finished(testSystem.testEnvironment, deployment.id)
  expect(result.status, result.outcome).toBe('successful')
})
