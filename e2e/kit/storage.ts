import { storageMissing } from '@crux/test-kit'
import { test } from './stage.ts'

/**
 * At the head of a test, or of a group, that asks a real S3 server. That is built with Go: on a machine without it those are skipped, counted
 * as such, and this says why; wherever Go is found they run.
 */
export function needsStorage(): void {
  const missing = storageMissing()
  test.skip(missing !== undefined, missing)
}
