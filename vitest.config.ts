import { defineConfig } from 'vitest/config'

/** These files start processes or change signal handlers, so each runs in a process of its own. */
const alone = [
  'apps/agent/test/**/*.test.ts',
  'packages/{dev-env,postgres,test-kit}/{src,test}/**/*.test.ts',
  'test/**/*.test.ts',
  'bench/**/*.test.ts',
]
/** A cluster takes a good part of a small machine for as long as it runs, so these run after all others. It starts with the first of them. */
const onCluster = ['apps/agent/test/kubernetes-*.test.ts']
/** It counts lost requests, and a cluster without a free core tells its machines too late that a pod ends. */
const onQuietCluster = ['apps/agent/test/kubernetes-answering.test.ts']
const exclude = ['**/node_modules/**', '**/dist/**', 'e2e/**']

export default defineConfig({
  test: {
    environment: 'node',
    globalSetup: ['./vitest.global.ts'],
    pool: 'forks',
    // More workers than cores, because a test that uses the engine often waits: on two cores these take a seventh less time than with three.
    maxWorkers: 4,
    // For tests that hang. On a slow machine, or beside the browser tests, others may take ten times as long as alone.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    restoreMocks: true,
    // The default of one second is too short on two cores under load.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      { extends: true, test: { name: 'alone', include: alone, exclude: [...exclude, ...onCluster] } },
      {
        extends: true,
        test: {
          name: 'cluster',
          include: onCluster,
          exclude: [...exclude, ...onQuietCluster],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'quiet cluster', include: onQuietCluster, exclude, sequence: { groupOrder: 2 } } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['packages/*/{src,test}/**/*.test.{ts,tsx}', 'apps/*/{src,test}/**/*.test.{ts,tsx}'],
          exclude: [...exclude, ...alone],
          // Isolation takes a third of the time, because every file would load the same modules in a process of its own.
          isolate: false,
        },
      },
    ],
  },
})
