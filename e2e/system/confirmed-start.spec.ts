import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDeployment, createService, finished, startDeployment, unique, web } from '@crux/test-kit'
import { expect, test } from '../kit/test-system.ts'

// A container with a node path that an admin confirmed, and the token of a pipeline that starts it, on the real engine.

test('a token starts a configuration that an admin confirmed, and is refused after a change that would write on the node', async ({
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const directory = await mkdtemp(join(tmpdir(), 'crux-approved-'))
  const written = join(directory, 'PWNED')
  const volume = { name: directory, path: '/h', type: 'ro' as const }
  const service = await createService(testEnvironment, [
    { name: `app/${unique('danger')}`, tag: '1', image: web('hello'), config: { name: 'web', volumes: [volume] } },
  ])
  const deployment = await createDeployment(testEnvironment, service, unique('d'))
  const params = { teamSlug: testEnvironment.teamSlug, deploymentId: deployment.id }
  const { token } = await client.call('deployments.create-token', { params, body: { name: unique('pipe-') } })
  const start = async () => {
    const path = `/api/${testEnvironment.teamSlug}/deployments/${deployment.id}/start?wait=120`
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(new URL(path, testSystem.system.url), { method: 'POST', headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  expect(await start()).toMatchObject({
    status: 403,
    body: { description: expect.stringContaining('Nobody has confirmed web') },
  })
  await startDeployment(testEnvironment, deployment.id)
  expect((await finished(testEnvironment, deployment.id)).status).toBe('successful')
  expect(await start()).toMatchObject({ status: 200, body: { status: 'successful' } })

  const { instances } = await client.call('deployments.get', { params })
  await client.call('container-configurations.update', {
    params: { teamSlug: testEnvironment.teamSlug, configId: instances[0]?.config.id ?? '' },
    body: {
      config: {
        volumes: [{ ...volume, type: 'rwo' }],
        commands: [{ key: '/bin/sh' }, { key: '-c' }],
        args: [{ key: 'echo > /h/PWNED; exec sleep 1000' }],
      },
    },
  })
  const refused = await start()
  expect(refused).toMatchObject({ status: 403 })
  expect(String(refused.body.description)).toMatch(/web changed since .* confirmed it on .*: args, commands, volumes/)
  expect(existsSync(written)).toBe(false)

  // The admin starts the same change, which proves that only the refusal prevented the write.
  await startDeployment(testEnvironment, deployment.id)
  expect((await finished(testEnvironment, deployment.id)).status).toBe('successful')
  await expect.poll(() => existsSync(written)).toBe(true)
  await rm(directory, { recursive: true })
})
