import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './repository.ts'

interface Entry {
  version?: string
  resolved?: string
  link?: boolean
  dependencies?: Record<string, string>
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Entry> }

test('npm ci accepts the lockfile: it holds every optional build that it names', async () => {
  const script: string = '../scripts/lockfile.mjs'
  const { missingEntries } = (await import(script)) as { missingEntries: (lock: unknown) => Record<string, unknown> }
  expect(Object.keys(missingEntries(lock)), 'run `npm run lockfile`').toEqual([])
})

test('the lockfile holds no address of a registry', () => {
  expect(Object.values(lock.packages).filter(({ resolved, link }) => resolved !== undefined && !link)).toEqual([])
})

test('every workspace names exact versions', () => {
  const workspaces = Object.entries(lock.packages).filter(([path]) => !path.includes('node_modules'))
  const ranges = workspaces.flatMap(([path, { dependencies = {} }]) =>
    Object.entries(dependencies)
      .filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))
      .map(([name, version]) => `${path}: ${name}@${version}`),
  )
  expect(ranges).toEqual([])
})
