import { buildAll, isPart, parts } from './build.ts'

// Builds everything that `npm start` would build, or the parts in the arguments.
try {
  const named = process.argv.slice(2).filter(isPart)
  await buildAll({ parts: named.length > 0 ? named : parts, say: console.log })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
