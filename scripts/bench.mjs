import { runBuilt } from './setup/run-built.mjs'

// `npm run bench` prints ratios against the bare engine, the bare database and a bare server. Arguments select benchmarks by name.
await runBuilt('bench/src/main.ts')
