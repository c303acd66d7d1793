import { buildAll } from './build.ts'

// Everything that `npm start` would build; used by the tests, which want the console and the agent's image.
try {
  await buildAll({ parts: ['console', 'identity', 'server', 'agent', 'agent-image'], say: console.log })
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
