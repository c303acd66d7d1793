import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootSystem, type System } from '@crux/dev-env'
import {
  createTestEnvironment,
  freePort,
  type Registry,
  removeContainers,
  removeImages,
  signUp,
  startRegistry,
  type TestEnvironment,
} from '@crux/test-kit'
import { test as base } from '@playwright/test'

/** Bundles, as users run them. `CRUX_TEST_MODE=source` skips the build during development. */
export const bootMode = process.env.CRUX_TEST_MODE === 'source' ? 'source' : 'bundle'

/** The product as `npm start` runs it, with a real registry and the real engine of this machine. */
export type TestSystem = { system: System; registry: Registry; testEnvironment: TestEnvironment }

/** Shorter than the default of a second, because each deployment of each test waits for it. */
const observationWindowMs = '400'

type Options = { env?: NodeJS.ProcessEnv; smtpUri?: string; port?: number; url?: string }

/** Only the processes, on free ports, for tests that need neither a team nor a node. */
export const startSystem = async (options: Options = {}): Promise<System> =>
  bootSystem({
    dataDir: await mkdtemp(join(tmpdir(), 'crux-e2e-')),
    // The machine assigns its own ports to connections too, so a port of its choice may be taken before a service listens on it.
    port: options.port ?? (await freePort()),
    url: options.url,
    identityPublicPort: await freePort(),
    identityAdminPort: await freePort(),
    mode: bootMode,
    smtpUri: options.smtpUri,
    env: { LOG_LEVEL: 'info', CRUX_RATE_LIMITS: 'off', OBSERVATION_WINDOW_MS: observationWindowMs, ...options.env },
  })

export async function startTestSystem(options: Options = {}): Promise<TestSystem & { end: () => Promise<void> }> {
  const registry = await startRegistry()
  const system = await startSystem(options)
  const testEnvironment = await createTestEnvironment(await signUp(system.url), registry)
  return {
    system,
    registry,
    testEnvironment,
    async end() {
      await system.stop()
      await removeContainers(`dev.crux.team=${testEnvironment.teamId}`)
      await removeImages(registry.host)
      await system.destroy()
      await registry.remove()
    },
  }
}

/** `testSystem` is shared by the tests of a worker; each test uses prefixes and names of its own. */
export const test = base.extend<Record<never, never>, { testSystem: TestSystem }>({
  testSystem: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads the names of fixtures from this pattern.
    async ({}, use) => {
      const testSystem = await startTestSystem()
      await use(testSystem)
      await testSystem.end()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
})
export { expect } from '@playwright/test'
