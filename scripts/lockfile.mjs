import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fail, npm, root } from './setup/install.mjs'

// `npm run lockfile` runs after `npm install` changed the lockfile. If a registry does not have the builds for every platform, npm omits them from
// the lockfile, and `npm ci` then refuses it on every platform. These builds are never downloaded on other platforms, so they get an entry with
// version and platform. Their checksum is requested again each time, because another registry may have them.

const file = join(root, 'package-lock.json')

/** Creates entries for the optional packages that the lockfile lists as dependencies but does not contain. */
export function missingEntries(lock) {
  const missing = {}
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!isExact(version) || isHeld(lock.packages, path, name)) continue
      missing[`node_modules/${name}`] = {
        version,
        ...getPlatform(name),
        ...(entry.dev ? { dev: true } : {}),
        optional: true,
      }
    }
  }
  return missing
}

/** Removes entries without a checksum, so that npm requests them from the registry. */
function withoutUnchecked(lock) {
  const kept = Object.entries(lock.packages).filter(
    ([path, entry]) => !path.includes('node_modules/') || entry.link || entry.integrity,
  )
  return { ...lock, packages: Object.fromEntries(kept) }
}

const writeLock = (lock) => writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)

function isExact(version) {
  return /^\d+\.\d+\.\d+/.test(version)
}

/** Resolves like Node: beside the dependent package, then in its parent directories. */
function isHeld(packages, from, name) {
  for (
    let base = from;
    ;
    base = base.includes('/node_modules/') ? base.slice(0, base.lastIndexOf('/node_modules/')) : ''
  ) {
    if (packages[base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`]) return true
    if (base === '') return false
  }
}

/** The names of native builds contain their platform, which npm needs to skip them on other platforms. */
function getPlatform(name) {
  const os = /android|darwin|freebsd|netbsd|openbsd|openharmony|linux|win32/.exec(name)?.[0]
  const rest = os ? name.slice(name.indexOf(os) + os.length) : name
  const cpu = /arm64|arm|x64|ia32|ppc64|riscv64|s390x|loong64|wasm32/.exec(rest)?.[0]
  const libc = /musl/.test(rest) ? 'musl' : undefined
  if (!os && !cpu) throw new Error(`${name} is missing in package-lock.json and names no platform: run npm install`)
  return { ...(cpu ? { cpu: [cpu] } : {}), ...(os ? { os: [os] } : {}), ...(libc ? { libc: [libc] } : {}) }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const before = readFileSync(file, 'utf8')
  writeLock(withoutUnchecked(JSON.parse(before)))
  if (!npm('install', '--package-lock-only', '--ignore-scripts')) {
    writeFileSync(file, before)
    fail('npm cannot resolve the dependencies; the lockfile is as it was.')
  }
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  const missing = missingEntries(lock)
  const entries = Object.entries({ ...lock.packages, ...missing })
  lock.packages = Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en')))
  writeLock(lock)
  console.log(`${Object.keys(missing).length} entries have no checksum: this registry does not carry them`)
}
