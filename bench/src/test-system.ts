import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootSystem, type System } from '@crux/dev-env'
import {
  createTestEnvironment,
  engine,
  finished,
  type Registry,
  removeContainers,
  signUp,
  startDeployment,
  startRegistry,
  type TestEnvironment,
  unique,
} from '@crux/test-kit'

/** The whole product from its bundles, as `npm start` runs it, with a local agent and a registry of its own. */
export type TestSystem = {
  system: System
  testEnvironment: TestEnvironment
  registry: Registry
  end: () => Promise<void>
}

export async function startTestSystem(): Promise<TestSystem> {
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  const registry = await startRegistry()
  const system = await bootSystem({
    dataDir,
    port: 0,
    identityPublicPort: 0,
    identityAdminPort: 0,
    mode: 'bundle',
    env: { LOG_LEVEL: 'warn', CRUX_RATE_LIMITS: 'off' },
  })
  const testEnvironment = await createTestEnvironment(await signUp(system.url), registry)
  return {
    system,
    testEnvironment,
    registry,
    async end() {
      await removeContainers(`dev.crux.team=${testEnvironment.teamId}`)
      await system.destroy()
      await registry.remove()
    },
  }
}

type EngineEvent = { Type: string; Action: string; Actor: { Attributes: Record<string, string> }; timeNano: number }

/** Follows the engine's events until `stop`. */
export async function followEvents(onEvent: (event: EngineEvent, heardAt: number) => void): Promise<() => void> {
  const { request } = await import('node:http')
  const call = request({
    socketPath: process.env.DOCKER_HOST?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock',
    path: '/v1.41/events',
  })
  let rest = ''
  await new Promise<void>((resolve, reject) => {
    call.on('response', (answer) => {
      resolve()
      answer.setEncoding('utf8')
      answer.on('error', () => undefined)
      answer.on('data', (text: string) => {
        const heardAt = performance.now()
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line) onEvent(JSON.parse(line), heardAt)
      })
    })
    call.on('error', reject)
    call.end()
  })
  // The engine sends headers before it listens to its own events; one call later it does.
  await engine('GET', '/_ping')
  return () => call.destroy()
}

/**
 * Starts a deployment and waits for its end.
 *
 * @throws Error with the outcome unless it is successful
 */
export async function deploy(
  testEnvironment: TestEnvironment,
  deploymentId: string,
  options?: Parameters<typeof finished>[2],
): Promise<void> {
  await startDeployment(testEnvironment, deploymentId)
  const { status, outcome } = await finished(testEnvironment, deploymentId, options)
  if (status !== 'successful') throw new Error(outcome)
}

/** A network like those of deployments, for containers that are started by hand. */
export async function createRawNetwork(): Promise<string> {
  const name = unique('rawnet')
  await engine('POST', '/networks/create', { Name: name, Driver: 'bridge', CheckDuplicate: true })
  return name
}
