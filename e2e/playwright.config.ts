import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from '@playwright/test'

/** The shell without windows takes a sixth less of the processors that the journeys need; the engine is the same. */
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser']

// Read by kit/network/chromium, in every process that launches one.
process.env.CRUX_BROWSER ??= browsers.find((path) => existsSync(path)) ?? browsers[0]

const chromium = {
  channel: undefined,
  launchOptions: {
    executablePath: fileURLToPath(new URL('kit/network/chromium', import.meta.url)),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  },
}

export default defineConfig({
  testDir: '.',
  globalSetup: './kit/network/own-network.ts',
  outputDir: '../test-results/e2e',
  reporter: [['list'], ['json', { outputFile: '../test-results/e2e.json' }]],
  timeout: 90_000,
  expect: { timeout: 15_000 },
  // Each with a system of its own. One waits for the engine while the other draws.
  workers: 2,
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  use: {
    ...chromium,
    viewport: { width: 1440, height: 860 },
    actionTimeout: 15_000,
    // Transitions are drawn by the processor here, picture by picture.
    contextOptions: { reducedMotion: 'reduce' },
    // Without films and copies of the page at each step: they take a seventh of the time. A failure shows its page all the same.
    trace: { mode: 'retain-on-failure', screenshots: false, snapshots: false, sources: false },
    screenshot: 'only-on-failure',
  },
  projects: [
    // The longest first: two browsers end at the same time then.
    { name: 'walks', testMatch: 'walks/*.spec.ts' },
    { name: 'system', testMatch: 'system/*.spec.ts' },
    { name: 'journeys', testMatch: 'journeys/*.spec.ts' },
    // Against a real Ory Kratos where one is found; skipped with the reason elsewhere.
    { name: 'kratos', testMatch: 'kratos/*.spec.ts' },
  ],
})
