import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootSystem, type System } from '@crux/dev-env'
import {
  createTestEnvironment,
  engine,
  type Registry,
  removeContainers,
  signUp,
  startRegistry,
  type TestEnvironment,
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
