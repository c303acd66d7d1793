import { provideTestCluster } from '@crux/postgres'
import { provideKubernetes } from '@crux/test-kit'
import type { TestProject } from 'vitest/node'

/**
 * Provides one PostgreSQL and one Kubernetes for the whole run, each of which starts when a test first needs it. `TEST_DATABASE_URL` and
 * `CRUX_TEST_KUBECONFIG` replace them.
 */
export default async function setup(_project: TestProject) {
  const services = [await provideTestCluster(), await provideKubernetes()]
  return () => Promise.all(services.map((service) => service.stop()))
}
