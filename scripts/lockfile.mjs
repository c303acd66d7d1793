import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fail, npm, root } from './setup/install.mjs'

// `npm run lockfile`, after `npm install` changed it. A registry that does not carry the builds for every platform makes npm
// leave those out of the lockfile, and `npm ci` then refuses it everywhere. They are never fetched on other platforms, so they
// get an entry with version and platform. Their checksum is asked for again each time: a registry that carries them gives it.

const file = join(root, 'package-lock.json')

/** Entries for the optional packages that the lockfile names as dependencies and does not hold. */
export function missingEntries(lock) {
  const missing = {}
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!isExact(version) || isHeld(lock.packages, path, name)) continue
      missing[`node_modules/${name}`] = {
        version,
        ...platformOf(name),
        ...(entry.dev ? { dev: true } : {}),
        optional: true,
      }
    }
  }
  return missing
}

/** Entries without a checksum are taken out, so that npm asks the registry for them. */
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

/** As Node resolves: beside the dependent, then outwards. */
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

/** Native builds carry their platform in their name; npm needs it to know that it must not fetch them here. */
function platformOf(name) {
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
