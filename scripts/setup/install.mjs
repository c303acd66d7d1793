import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// This file runs on any Node from 18 on and before anything is installed, so it uses only built-in modules.

/** The checkout. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** Installs the dependencies when they differ from the lockfile. Writes to stderr alone: stdout belongs to the command. Ends the process when it fails. */
export function ensureInstalled() {
  const lockfile = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const stamp = join(root, 'node_modules/.crux-installed')
  const wanted = createHash('sha256').update(`${process.platform} ${process.arch} ${lockfile}`).digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && node24()) return
  if (!installedMatches(JSON.parse(lockfile), readInstalled())) {
    console.error('Installing dependencies (npm ci) ...')
    // Installs exactly the packages of the lockfile and runs no package scripts; `npm install` would select versions by itself.
    if (!npm('ci', '--ignore-scripts'))
      fail(
        'npm ci cannot install the dependencies. It says why above: either the package registry cannot be reached, or the lockfile does not fit package.json (npm install writes a new one, then npm run lockfile).',
      )
    const unchecked = withoutChecksum(JSON.parse(lockfile), readInstalled())
    if (unchecked.length > 0)
      console.error(
        `The lockfile knows no checksum of ${unchecked.join(', ')} for this platform; npm run lockfile records it.`,
      )
  }
  runAllowedScripts()
  if (!node24()) {
    fail(
      `Crux needs Node 24. This is Node ${process.versions.node}, and npm has none for ${process.platform}-${process.arch}: install Node 24 and try again.`,
    )
  }
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, wanted)
}

/** The Node 24 from the dependencies, or this one when it is new enough. */
export function node24() {
  const bundled = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  if (existsSync(bundled)) return bundled
  return Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : undefined
}

/** The environment in which `node` and the installed commands are those of the checkout. */
export function projectEnvironment() {
  return { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${dirname(node24())}:${process.env.PATH}` }
}

export function fail(message) {
  console.error(`\n${message}`)
  process.exit(1)
}

/**
 * Whether the packages that npm recorded as installed match the lockfile. Packages for other platforms may be missing. An interrupted installation
 * leaves no record.
 */
export function installedMatches(lock, installed) {
  return Object.entries(lock.packages).every(([path, entry]) => {
    if (!path.includes('node_modules/') || entry.link) return true
    const found = installed?.packages[path]
    return found
      ? found.version === entry.version
      : Boolean(installed && (entry.optional || entry.peer || entry.devOptional))
  })
}

function readInstalled() {
  const hidden = join(root, 'node_modules/.package-lock.json')
  return existsSync(hidden) ? JSON.parse(readFileSync(hidden, 'utf8')) : undefined
}

/** The only packages whose install scripts run: they link the libraries of PostgreSQL, because npm archives cannot contain links. */
function runAllowedScripts() {
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const allowed = Object.keys(allowScripts).filter((name) => existsSync(join(root, 'node_modules', name)))
  if (allowed.length > 0 && !npm('rebuild', '--ignore-scripts=false', ...allowed))
    fail(`npm cannot prepare ${allowed.join(', ')}; it says why above.`)
}

/** Installed packages whose lockfile entry has no checksum: builds that the registry did not have. */
export function withoutChecksum(lock, installed) {
  return Object.keys(installed?.packages ?? {})
    .filter((path) => {
      const entry = lock.packages[path]
      return path.includes('node_modules/') && entry && !entry.link && !entry.integrity
    })
    .map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
}

/** @returns whether it succeeded */
export function npm(...args) {
  const [command, ...first] = npmCommand()
  return (
    spawnSync(command, [...first, ...args, '--loglevel', 'error'], { cwd: root, stdio: ['inherit', 2, 2] }).status === 0
  )
}

/** The npm that runs this script, otherwise the one on the PATH. */
function npmCommand() {
  const script = process.env.npm_execpath
  return script?.endsWith('.js') && existsSync(script) ? [process.execPath, script] : ['npm']
}
