import { buildStorage } from '../src/storage.ts'

/** Builds the S3 server of the tests, once per checkout. Without it those tests are skipped, which is not a failure. */
const missing = await buildStorage()
console.log(missing ? `Tests against a real S3 server are left out: ${missing}` : 'The S3 server of the tests is built')
