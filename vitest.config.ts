import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'packages/*/{src,test}/**/*.test.{ts,tsx}',
      'apps/*/{src,test}/**/*.test.{ts,tsx}',
      'test/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**', 'e2e/**'],
    environment: 'node',
    globalSetup: ['./vitest.global.ts'],
    // Two cores; forks, because tests start processes and change signal handlers.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    // One second, the default, is nothing on two cores that do other things too.
    expect: { poll: { timeout: 10_000 } },
  },
})
