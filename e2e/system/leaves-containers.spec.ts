import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, removeEmbedded } from '@crux/postgres'
import {
  createDeployment,
  createService,
  createTestEnvironment,
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
import { getPid, type Installation, processTree, type RunningProcess, startInstallation } from '../kit/installation.ts'
import { getStatus } from '../kit/node.ts'
import { answers, toAnswer } from '../kit/service.ts'
import { expect, test } from '../kit/test-system.ts'

const anyAlive = (processes: readonly RunningProcess[]) => processes.some(({ pid }) => isAlive(pid))

const ways: [string, (started: Installation, processes: readonly RunningProcess[]) => void][] = [
  ['Ctrl-C', (crux) => process.kill(-getPid(crux), 'SIGINT')],
  [
    'kill -9 of all its processes, supervisor and agent among them',
    (_, processes) => {
      for (const { pid } of processes) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    },
  ],
]

const started: Installation[] = []
/** A failed test must not leave a whole installation behind. */
test.afterEach(() => {
  for (const { supervisor } of started.splice(0)) {
    if (!supervisor.pid || supervisor.exitCode !== null || supervisor.signalCode !== null) continue
    for (const { pid } of processTree(supervisor.pid)) process.kill(pid, 'SIGKILL')
  }
})

for (const [way, end] of ways)
  test(`${way} leaves containers running, and the next start continues with them`, async () => {
    test.setTimeout(420_000)
    const dataDir = await mkdtemp(join(tmpdir(), 'crux-e2e-'))
    const ports = [await freePort(), await freePort(), await freePort()]
    const registry = await startRegistry()
    const first = await startInstallation(dataDir, ports)
    started.push(first)
    const testEnvironment = await createTestEnvironment(await signUp(first.url), registry)
    const port = await freePort()
    const prefix = unique('l')
    const service = await createService(testEnvironment, [
      {
        name: `app/${prefix}`,
        tag: '1',
        image: web('still here'),
        config: { name: 'web', ports: [{ internal: 8080, external: port }] },
      },
    ])
    const deployment = await createDeployment(testEnvironment, service, prefix)
    expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
    await answers(port, 'still here')
    const [container] = await raw.list(`dev.crux.prefix=${prefix}`)
    const before = await raw.inspect(container?.Id ?? '')
    const processes = processTree(getPid(first))
    for (const part of [/scripts\/start/, /in .*apps\/server$/, /in .*apps\/identity$/, /postgres/, /agent/])
      expect(
        processes.some(({ description }) => part.test(description)),
        String(part),
      ).toBe(true)

    end(first, processes)
    await waitFor('every process of Crux has ended', () => !anyAlive(processes), { timeoutMs: 60_000 })
    expect(await toAnswer(port)).toBe('still here')

    const second = await startInstallation(dataDir, ports)
    started.push(second)
    const again = { ...testEnvironment, user: await signInAgain(second.url, testEnvironment.user) }
    await waitFor('the node is back', async () => (await getStatus(again, testEnvironment.nodeId)) === 'connected', {
      timeoutMs: 60_000,
    })
    const params = { teamSlug: testEnvironment.teamSlug, deploymentId: deployment.id }
    expect((await again.user.client.call('deployments.get', { params })).status).toBe('successful')
    expect((await raw.list(`dev.crux.prefix=${prefix}`)).map(({ Id }) => Id)).toEqual([container?.Id])
    // The same process runs in the same container, so it was not restarted.
    expect((await raw.inspect(container?.Id ?? '')).State).toEqual(before.State)
    expect(await toAnswer(port)).toBe('still here')

    const last = processTree(getPid(second))
    process.kill(-getPid(second), 'SIGINT')
    await waitFor('every process of Crux has ended', () => !anyAlive(last), { timeoutMs: 60_000 })
    await removeContainers(`dev.crux.team=${testEnvironment.teamId}`)
    await registry.remove()
    removeEmbedded({ dataDir })
    await rm(dataDir, { recursive: true, force: true })
  })
