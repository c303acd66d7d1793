import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './repository.ts'

// scripts/setup runs before anything is installed, so it is plain JavaScript.
const script: string = '../scripts/setup/install.mjs'
const { installedMatches, withoutChecksum } = (await import(script)) as {
  installedMatches: (lock: unknown, installed: unknown) => boolean
  withoutChecksum: (lock: unknown, installed: unknown) => string[]
}

const lock = {
  packages: {
    '': { name: 'crux' },
    'apps/server': { version: '1.0.0' },
    'node_modules/@crux/server': { resolved: 'apps/server', link: true },
    'node_modules/zod': { version: '4.0.0' },
    'node_modules/esbuild-win32': { version: '1.0.0', optional: true },
  },
}
const installed = (packages: Record<string, { version: string }>) => ({ packages })

test('an installation is complete without the builds for other machines', () => {
  expect(installedMatches(lock, installed({ 'node_modules/zod': { version: '4.0.0' } }))).toBe(true)
})

test('an installation is not complete with another version, without a package, or when npm was interrupted', () => {
  expect(installedMatches(lock, installed({ 'node_modules/zod': { version: '3.9.0' } }))).toBe(false)
  expect(installedMatches(lock, installed({}))).toBe(false)
  expect(installedMatches(lock, undefined)).toBe(false)
  const mixed = installed({
    'node_modules/zod': { version: '4.0.0' },
    'node_modules/esbuild-win32': { version: '2.0.0' },
  })
  expect(installedMatches(lock, mixed)).toBe(false)
})

test('the setup lists packages that were installed without a checksum', () => {
  const checked = { packages: { ...lock.packages, 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-x' } } }
  const both = installed({
    'node_modules/zod': { version: '4.0.0' },
    'node_modules/esbuild-win32': { version: '1.0.0' },
  })
  expect(withoutChecksum(checked, both)).toEqual(['esbuild-win32'])
  expect(withoutChecksum(checked, installed({ 'node_modules/zod': { version: '4.0.0' } }))).toEqual([])
})

test('the setup installs only from the lockfile: a failed npm ci is never followed by an install that selects versions', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crux-install-'))
  const record = join(directory, 'calls')
  writeFileSync(join(directory, 'npm'), `#!/bin/sh\necho "$*" | tee -a "${record}"\nexit 1\n`, { mode: 0o755 })
  cpSync(join(root, 'scripts'), join(directory, 'scripts'), { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(root, name), join(directory, name))
  const { npm_execpath: _, ...env } = process.env
  const code = "import('./scripts/setup/install.mjs').then((setup) => setup.ensureInstalled())"
  const result = spawnSync(process.execPath, ['-e', code], {
    cwd: directory,
    env: { ...env, PATH: `${directory}:${env.PATH}` },
    encoding: 'utf8',
  })
  expect(result).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('npm ci cannot install the dependencies'),
  })
  expect(readFileSync(record, 'utf8')).toBe('ci --ignore-scripts --loglevel error\n')
  rmSync(directory, { recursive: true })
})

test('npm run crux lists its commands when none is given, and creates a key before an installation exists', () => {
  const crux = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/crux.mjs', ...args], {
      cwd: root,
      env: { ...process.env, CRUX_DATA_DIR: '/nonexistent' },
      encoding: 'utf8',
    })
  expect(crux()).toMatchObject({ status: 1, stderr: expect.stringContaining('identity reset-factors EMAIL') })
  expect(crux('encrypt', 'generate')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^[\w-]{43}\n$/) })
})
