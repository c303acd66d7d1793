import { provideTestCluster } from '@crux/postgres'
import type { TestProject } from 'vitest/node'

/** Provides one PostgreSQL for the whole run, which starts when a test first needs a database. `TEST_DATABASE_URL` replaces it. */
export default async function setup(_project: TestProject) {
  const cluster = await provideTestCluster()
  return () => cluster.stop()
}
