import { defineConfig } from 'vitest/config'

/** Their files start processes or change signal handlers: each gets a process of its own. */
const alone = [
  'apps/agent/test/**/*.test.ts',
  'packages/{dev-env,postgres,test-kit}/{src,test}/**/*.test.ts',
  'test/**/*.test.ts',
  'bench/**/*.test.ts',
]
const exclude = ['**/node_modules/**', '**/dist/**', 'e2e/**']

export default defineConfig({
  test: {
    environment: 'node',
    globalSetup: ['./vitest.global.ts'],
    pool: 'forks',
    // One more than cores: a test that drives the engine waits most of its time.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    // One second, the default, is nothing on two cores that do other things too.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      { extends: true, test: { name: 'alone', include: alone, exclude } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['packages/*/{src,test}/**/*.test.{ts,tsx}', 'apps/*/{src,test}/**/*.test.{ts,tsx}'],
          exclude: [...exclude, ...alone],
          // A third of the time was the loading of the same modules in every file's own process.
          isolate: false,
        },
      },
    ],
  },
})
