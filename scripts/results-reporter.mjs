import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes the results of a run of vitest as JSON: each test with its file, name, state and milliseconds, the errors of files and hooks, and those
 * outside of every file. Each error has the difference between what was expected and what was there, which its message shortens.
 *
 * The path is that of the environment variable CRUX_TEST_RESULTS.
 */
export default class ResultsReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const results = {
      files: modules.map((module) => ({
        path: module.moduleId,
        errors: [module, ...module.children.allSuites()].flatMap((suite) => suite.errors().map(toText)),
        tests: [...module.children.allTests()].map((test) => {
          const { state, errors = [] } = test.result()
          return { name: test.fullName, state, ms: test.diagnostic()?.duration ?? 0, errors: errors.map(toText) }
        }),
      })),
      errors: unhandledErrors.map(toText),
    }
    const path = process.env.CRUX_TEST_RESULTS
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(results))
  }
}

/** The frames of libraries do not explain a test, and take the place of its difference. */
function toText({ diff = '', message = '', name = 'Error', stack = '' }) {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('node_modules'))
  return [`${name}: ${message}`, diff, ...frames].filter((line) => line !== '').join('\n')
}
