import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from '@playwright/test'

/** The headless shell needs a sixth less CPU time for the journeys than the full browser; the engine is the same. */
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser']

// kit/network/chromium reads this variable in every process that starts a browser.
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
  // Each worker has a system of its own. One waits for the engine while the other one renders.
  workers: 2,
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  use: {
    ...chromium,
    viewport: { width: 1440, height: 860 },
    actionTimeout: 15_000,
    // Transitions are rendered by the CPU here, frame by frame.
    contextOptions: { reducedMotion: 'reduce' },
    // Videos and snapshots of each step take a seventh of the time. A failure still shows its page.
    trace: { mode: 'retain-on-failure', screenshots: false, snapshots: false, sources: false },
    screenshot: 'only-on-failure',
  },
  projects: [
    // The longest tests run first, so that both workers end at about the same time.
    { name: 'pages', testMatch: 'pages/*.spec.ts' },
    { name: 'system', testMatch: 'system/*.spec.ts' },
    { name: 'journeys', testMatch: 'journeys/*.spec.ts' },
    // These tests run against a real Ory Kratos if one is found, and are skipped with the reason otherwise.
    { name: 'kratos', testMatch: 'kratos/*.spec.ts' },
  ],
})
