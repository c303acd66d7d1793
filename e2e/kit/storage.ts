import { storageMissing } from '@crux/test-kit'
import { test } from './test-system.ts'

/** Called by tests and groups that use a real S3 server. The server is built with Go: without Go these tests are skipped with this reason. */
export function needsStorage(): void {
  const missing = storageMissing()
  test.skip(missing !== undefined, missing)
}
