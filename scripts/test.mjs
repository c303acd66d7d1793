import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { ensureDocker } from './setup/docker.mjs'
import { readFlags } from './setup/flags.mjs'
import { ensureInstalled, projectEnvironment, root } from './setup/install.mjs'
import { findCommand, installPackages, isDebian, rootPrefix, thisMachine } from './setup/system.mjs'

const usage = `Runs every check: npm test, or npm run test:full for the full counts.

  --full          the full counts instead of small seeds
  --only STAGES   comma separated: types, lint, dead-code, build, unit, browser
  --changed       only the tests that the changes since the upstream branch touch; types and lint always
  --side-by-side  the browser tests beside the unit tests: quicker where there are more than two cores`

const flags = readFlags(
  {
    full: { type: 'boolean' },
    only: { type: 'string' },
    changed: { type: 'boolean' },
    'side-by-side': { type: 'boolean' },
  },
  usage,
)
const results = join(root, 'test-results')
const minutesMax = flags.full ? 90 : 60
const failureLinesMax = 50
/** Many tests start processes of the same modules, which need up to a quarter less CPU time when they are not compiled again. */
const compiled = join(root, '.cache/compiled')
const pageLinesMax = 80

/** The fastest checks come first. Each returns its counts. */
const stages = [
  {
    name: 'types',
    run: () =>
      oneByOne([
        ['tsc', '-p', 'tsconfig.json'],
        ['tsc', '-p', 'apps/console/tsconfig.json'],
      ]),
  },
  { name: 'lint', run: () => oneByOne([['biome', 'check', '--max-diagnostics=50', '.']]) },
  { name: 'dead-code', run: () => oneByOne([['knip']]) },
  { name: 'build', run: () => oneByOne([['node', 'scripts/build-all.ts']]) },
  { name: 'unit', run: vitest },
  { name: 'browser', run: playwright },
]

const begin = Date.now()
ensureInstalled()
const only = flags.only?.split(',')
const touched = flags.changed ? touchedTests() : {}
const stagesToRun = stages.filter(({ name }) => (!only || only.includes(name)) && isTouched(name))
const needsEngine = stagesToRun.some(({ name }) => name === 'unit' || name === 'browser')
const missing = needsEngine ? await prepare() : []
const rows = []
const slowest = []
if (missing.length > 0) {
  console.error(`\nThe tests need what is not here:\n${missing.map((line) => `  - ${line}`).join('\n')}\n`)
  rows.push({ name: 'set-up', passed: 0, failed: missing.length, skipped: 0, seconds: 0 })
} else {
  mkdirSync(results, { recursive: true })
  // The storage server is built while other checks run, and the tests wait for it.
  const storage = needsEngine ? call(['node', 'packages/test-kit/scripts/build-storage.ts']) : undefined
  const isTests = ({ name }) => name === 'unit' || name === 'browser'
  for (const stage of stagesToRun.filter((one) => !isTests(one))) await runStage(stage)
  await storage
  const tests = stagesToRun.filter(isTests)
  if (flags['side-by-side']) await Promise.all(tests.map((stage) => runStage(stage, tests.length > 1)))
  else for (const stage of tests) await runStage(stage)
}
report(rows)

/** Unit tests wait for the engine much of the time, and browser tests for the browser, so that both together use the cores. */
async function runStage({ name, run }, isBeside = false) {
  console.log(`\n== ${name}`)
  const start = Date.now()
  rows.push({ name, skipped: 0, ...(await run(isBeside)), seconds: Math.round((Date.now() - start) / 1000) })
}

/** @returns the test files by stage; without `files` all of them */
function touchedTests() {
  const { status, stdout } = spawnSync('node', ['scripts/changed-tests.ts'], {
    cwd: root,
    env: projectEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) return {}
  const { changed, unit, browser } = JSON.parse(stdout)
  const counted = unit ? `${unit.length} files of unit tests and ${browser.length} of browser tests` : 'all tests'
  console.log(`${changed.length} changed files touch ${counted}`)
  return { unit, browser }
}

function isTouched(name) {
  const needsBuild = touched.browser?.length !== 0
  if (name === 'build') return needsBuild
  return touched[name]?.length !== 0
}

function report(counted) {
  const sum = (key) => counted.reduce((total, row) => total + row[key], 0)
  // Failures are printed last, because a truncated log keeps its end.
  const failures = counted.flatMap((row) => row.failures ?? [])
  if (failures.length > 0) console.log(`\nFailed:\n\n${failures.join('\n\n')}`)
  console.log(
    `\n${'stage'.padEnd(12)}${'passed'.padStart(8)}${'failed'.padStart(8)}${'skipped'.padStart(9)}${'seconds'.padStart(9)}`,
  )
  for (const row of counted.sort((a, b) => stageOrder(a) - stageOrder(b))) {
    console.log(
      `${row.name.padEnd(12)}${String(row.passed).padStart(8)}${String(row.failed).padStart(8)}${String(row.skipped).padStart(9)}${String(row.seconds).padStart(9)}`,
    )
  }
  if (slowest.length > 0) console.log('\nThe slowest tests:')
  for (const { ms, name } of slowest.sort((a, b) => b.ms - a.ms).slice(0, 10))
    console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`)
  console.log(`\nin ${Math.round((Date.now() - begin) / 1000)} s`)
  const skipped = sum('skipped')
  console.log(`${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exit(sum('failed') === 0 && sum('passed') > 0 ? 0 : 1)
}

function stageOrder({ name }) {
  return stages.findIndex((stage) => stage.name === name)
}

/** Installs system packages and an engine, and names exactly what cannot be installed here. */
async function prepare() {
  const needed = [
    {
      package: 'docker.io',
      what: 'a Docker engine',
      here: () => findCommand('dockerd') || existsSync('/var/run/docker.sock'),
    },
    {
      package: 'docker-registry',
      what: 'docker-registry (a local image registry)',
      here: () => findCommand('docker-registry'),
    },
    // Needs two thirds of the CPU time of the full browser, which is used where a release has no such package.
    {
      package: 'chromium-headless-shell',
      stage: 'browser',
      what: 'Chromium without windows',
      optional: true,
      here: () => findCommand('chromium-headless-shell'),
    },
    {
      package: 'chromium',
      stage: 'browser',
      what: 'Chromium',
      here: () => ['chromium-headless-shell', 'chromium', 'chromium-browser'].some((name) => findCommand(name)),
    },
    // Gives the browsers a network of their own; without it they share that of the machine, and print a message.
    { package: 'iproute2', stage: 'browser', what: 'ip', optional: true, here: () => findCommand('ip') },
    // The examples of docs/proxy run in these servers; without one, its journey is skipped with a message. Where systemd runs, the packages would
    // start services at port 80, so they are not installed there.
    ...['nginx', 'caddy'].map((name) => ({
      package: name,
      stage: 'browser',
      what: name,
      optional: true,
      here: () => findCommand(name) || existsSync(thisMachine.systemd),
    })),
    { package: 'busybox-static', what: 'a static busybox at /bin/busybox', here: () => isStatic('/bin/busybox') },
  ]
  const wanted = needed.filter(({ stage }) => !stage || stagesToRun.some(({ name }) => name === stage))
  if (isDebian() && process.getuid?.() === 0) {
    // Packages are installed one by one: a missing one must not prevent the others, and one may make the next one unnecessary.
    for (const entry of wanted) if (!entry.here()) install(entry.package)
  } else if (isDebian() && rootPrefix()) {
    const absent = wanted.filter((entry) => !entry.here() && !entry.optional).map((entry) => entry.package)
    if (absent.length > 0) console.log(`To install what the tests need: sudo apt-get install ${absent.join(' ')}`)
  }
  // The engine starts many short processes of its own program. Without garbage collection they and the engine need a tenth less CPU time.
  const docker = await ensureDocker(join(root, '.cache/test'), thisMachine, { GOGC: 'off', GOMEMLIMIT: '512MiB' })
  const gone = wanted
    .filter((entry) => !entry.here() && !entry.optional)
    .map((entry) => `${entry.what} (Debian package ${entry.package})`)
  return docker.startsWith('ready') ? gone : [...gone, `a running Docker engine: ${docker}`]
}

function install(name) {
  console.log(`Installing what the tests need: ${name} ...`)
  const problem = installPackages([], [name, 'iptables', 'ca-certificates'])
  if (problem) console.error(problem)
}

/** A static program has no interpreter entry. The test images contain only this file. */
function isStatic(path) {
  if (!existsSync(path)) return false
  const head = Buffer.alloc(4096)
  const file = openSync(path, 'r')
  readSync(file, head, 0, head.length, 0)
  closeSync(file)
  return !head.includes('/ld-')
}

async function oneByOne(commands) {
  const failures = []
  for (const command of commands) if ((await call(command)) !== 0) failures.push(`- ${command.join(' ')}`)
  return { passed: commands.length - failures.length, failed: failures.length, failures }
}

async function vitest() {
  const file = join(results, 'vitest.json')
  rmSync(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=./scripts/results-reporter.mjs']
  const env = { CRUX_TEST_RESULTS: file }
  const code = await call(['vitest', 'run', ...(touched.unit ?? []), ...reporters], { env })
  const report = readReport(file)
  if (!report) return { passed: 0, failed: 1, failures: ['- vitest left no report'] }
  const tests = report.files.flatMap(({ path, tests }) => tests.map((test) => ({ ...test, path })))
  slowest.push(...tests.map(({ ms, name, path }) => ({ ms, name: `${relative(root, path)}: ${name}` })))
  const count = (state) => tests.filter((test) => test.state === state).length
  // A file that does not load, or whose hooks fail, may contain no failed test, but must count as a failure.
  const failures = [
    ...report.errors.map((error) => failure('vitest', '(outside of every test)', error)),
    ...report.files.flatMap(({ errors, path }) => errors.map((error) => failure(path, '(the file)', error))),
    ...tests
      .filter(({ state }) => state === 'failed')
      .map(({ errors, name, path }) => failure(path, name, errors.join('\n'))),
  ]
  return {
    passed: count('passed'),
    failed: Math.max(failures.length, code === 0 ? 0 : 1),
    skipped: count('skipped'),
    failures: code !== 0 && failures.length === 0 ? ['- vitest: an error outside of every test, see above'] : failures,
  }
}

/** Beside the unit tests, the lines of its progress are in test-results/browser.log. */
async function playwright(isBeside) {
  const file = join(results, 'e2e.json')
  rmSync(file, { force: true })
  const specs = touched.browser?.map((path) => relative('e2e', path)) ?? []
  const output = isBeside ? join(results, 'browser.log') : undefined
  if (output) console.log(`   beside the unit tests; its progress is in ${relative(root, output)}`)
  const code = await call(['playwright', 'test', ...specs], { cwd: join(root, 'e2e'), output })
  const report = readReport(file)
  if (!report) return { passed: 0, failed: 1, failures: ['- playwright left no report'] }
  const { stats } = report
  slowest.push(...report.suites.flatMap(listDurations))
  return {
    passed: stats.expected,
    failed: Math.max(stats.unexpected + stats.flaky, code === 0 ? 0 : 1),
    skipped: stats.skipped,
    failures: [
      ...report.suites.flatMap(listFailures),
      ...report.errors.map(({ message = '' }) => failure('e2e', '(outside of every test)', message)),
    ],
  }
}

function listDurations(suite) {
  return [
    ...(suite.suites ?? []).flatMap(listDurations),
    ...(suite.specs ?? []).map((spec) => ({
      ms: spec.tests.flatMap((test) => test.results).reduce((total, { duration }) => total + duration, 0),
      name: `e2e/${spec.file}: ${spec.title}`,
    })),
  ]
}

/** Playwright nests suites. A test that passed at its second attempt counts as failed. */
function listFailures(suite) {
  return [
    ...(suite.suites ?? []).flatMap(listFailures),
    ...(suite.specs ?? [])
      .filter((spec) => spec.tests.some((test) => test.status === 'unexpected' || test.status === 'flaky'))
      .map((spec) => {
        const tries = spec.tests.flatMap((test) => test.results)
        const errors = tries.flatMap((result) => result.errors ?? []).map((error) => error.message)
        return [failure(spec.file, spec.title, errors.join('\n')), ...tries.map(seen)].join('\n')
      }),
  ]
}

/** The page content at the failure, as Playwright describes it, without the frame of the page and other noise. */
function seen({ attachments = [] }) {
  const { path } = attachments.find(({ name }) => name === 'error-context') ?? {}
  const [, page = ''] = (path && existsSync(path) && /^```yaml\n(.*?)^```$/ms.exec(readFileSync(path, 'utf8'))) || []
  const lines = page
    .trimEnd()
    .replaceAll(/ \[(ref=\w+|cursor=\w+)\]/g, '')
    .split('\n')
  const start = lines.findIndex((line) => /^\s*- main/.test(line))
  return lines
    .slice(Math.max(0, start))
    .filter((line) => !/- (generic|\/url: .*|img|list|listitem):?$/.test(line))
    .slice(0, pageLinesMax)
    .map((line) => `    | ${line}`)
    .join('\n')
}

function failure(file, title, message) {
  const lines = stripVTControlCharacters(message).split('\n')
  const shown = lines.slice(0, failureLinesMax).map((line) => `    ${line}`)
  return [`- ${relative(root, resolve(root, file))}: ${title}`, ...shown].join('\n')
}

function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** Runs a command of the checkout. A command that hangs is ended, so that the summary is always printed. */
function call([command, ...args], { cwd = root, env = {}, output } = {}) {
  const out = output ? openSync(output, 'w') : 'inherit'
  const child = spawn(command, args, {
    cwd,
    env: {
      ...projectEnvironment(),
      NODE_COMPILE_CACHE: compiled,
      ...(flags.full ? { CRUX_TEST_FULL: '1' } : {}),
      ...env,
    },
    stdio: ['ignore', out, out],
  })
  if (output) closeSync(out)
  const late = setTimeout(() => {
    console.error(`${command} did not end within ${minutesMax} minutes`)
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 10_000).unref()
  }, minutesMax * 60_000)
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once('exit', (code) => resolve(code ?? 1))
  }).finally(() => clearTimeout(late))
}
