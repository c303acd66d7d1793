import { existsSync } from 'node:fs'
import { defineConfig } from '@playwright/test'

/** The shell without windows takes a sixth less of the processors that the journeys need; the engine is the same. */
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser']

const chromium = {
  channel: undefined,
  launchOptions: {
    executablePath: process.env.CHROMIUM_PATH ?? browsers.find((path) => existsSync(path)) ?? browsers[0],
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
    // Without the film: drawing one takes a good part of the processors that the journeys need.
    trace: { mode: 'retain-on-failure', screenshots: false, sources: false },
    screenshot: 'only-on-failure',
  },
  projects: [
    // The longest first: two browsers end at the same time then.
    { name: 'walks', testMatch: 'walks/*.spec.ts' },
    { name: 'system', testMatch: 'system/*.spec.ts' },
    { name: 'journeys', testMatch: 'journeys/*.spec.ts' },
    // Against a real Ory Kratos, which no checkout has: CRUX_KRATOS names the folder with the script that serves it.
    ...(process.env.CRUX_KRATOS ? [{ name: 'kratos', testMatch: 'kratos/*.spec.ts' }] : []),
  ],
})
