import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootSystem } from '@crux/dev-env'
import {
  createDeployment,
  createService,
  createWorld,
  deploy,
  freePort,
  raw,
  removeContainers,
  signInAgain,
  signUp,
  startRegistry,
  unique,
  waitFor,
  web,
} from '@crux/test-kit'
import { statusOf } from '../kit/node.ts'
import { answerOf, answers } from '../kit/service.ts'
import { bootMode, expect, test } from '../kit/stage.ts'

test('stopping Crux, and killing all of it, leaves containers running; the next start goes on where it was', async () => {
  test.setTimeout(180_000)
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-e2e-'))
  const boot = () =>
    bootSystem({
      dataDir,
      port: 0,
      identityPublicPort: 0,
      identityAdminPort: 0,
      mode: bootMode,
      env: { LOG_LEVEL: 'info', CRUX_RATE_LIMITS: 'off' },
    })
  const registry = await startRegistry()
  let system = await boot()
  const world = await createWorld(await signUp(system.url), registry)
  const port = await freePort()
  const prefix = unique('l')
  const service = await createService(world, [
    {
      name: 'app/stays',
      tag: '1',
      image: web('still here'),
      config: { name: 'web', ports: [{ internal: 8080, external: port }] },
    },
  ])
  const deployment = await createDeployment(world, service, prefix)
  expect((await deploy(world, deployment.id)).status).toBe('successful')
  await answers(port, 'still here')
  const [container] = await raw.list(`dev.crux.prefix=${prefix}`)

  await system.stop()
  expect(await answerOf(port)).toBe('still here')
  system = await boot()
  const { url } = system
  const again = { ...world, person: await signInAgain(url, world.person) }
  await waitFor('the node is back', async () => (await statusOf(again, world.nodeId)) === 'connected', {
    timeoutMs: 60_000,
  })
  const details = await again.person.client.call('deployments.get', {
    params: { teamSlug: world.teamSlug, deploymentId: deployment.id },
  })
  expect(details.status).toBe('successful')

  for (const name of ['server', 'identity', 'postgres'] as const) process.kill(system.pid(name) ?? 0, 'SIGKILL')
  expect(await answerOf(port)).toBe('still here')
  await waitFor('everything serves again', async () => (await fetch(`${url}/health/ready`)).ok, {
    timeoutMs: 60_000,
    everyMs: 100,
  })
  expect((await raw.list(`dev.crux.prefix=${prefix}`)).map((one) => one.Id)).toEqual([container?.Id])
  await removeContainers(`dev.crux.team=${world.teamId}`)
  await system.destroy()
  await registry.remove()
})
