import { runBuilt } from './setup/run-built.mjs'

// `npm run chaos` kills parts of a running system and compares the stored data with the acknowledged writes.
await runBuilt('e2e/chaos.ts')
