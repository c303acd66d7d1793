import { startTestCluster } from '@crux/postgres'
import type { TestProject } from 'vitest/node'

/** One PostgreSQL for the whole run, started when a test first asks for a database; `TEST_DATABASE_URL` names another. */
export default async function setup(_project: TestProject) {
  const cluster = await startTestCluster()
  return () => cluster.stop()
}
