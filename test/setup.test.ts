import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { root } from './repository.ts'

// scripts/setup runs before anything is installed, so it is plain JavaScript.
const script: string = '../scripts/setup/install.mjs'
const { installedMatches } = (await import(script)) as {
  installedMatches: (lock: unknown, installed: unknown) => boolean
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

test('it is not complete with another version, without a package, or when npm was interrupted', () => {
  expect(installedMatches(lock, installed({ 'node_modules/zod': { version: '3.9.0' } }))).toBe(false)
  expect(installedMatches(lock, installed({}))).toBe(false)
  expect(installedMatches(lock, undefined)).toBe(false)
  const mixed = installed({
    'node_modules/zod': { version: '4.0.0' },
    'node_modules/esbuild-win32': { version: '2.0.0' },
  })
  expect(installedMatches(lock, mixed)).toBe(false)
})

test('maintenance without a command says which there are, and makes a key before there is an installation', () => {
  const crux = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/crux.mjs', ...args], {
      cwd: root,
      env: { ...process.env, CRUX_DATA_DIR: '/nonexistent' },
      encoding: 'utf8',
    })
  expect(crux()).toMatchObject({ status: 1, stderr: expect.stringContaining('identity reset-factors EMAIL') })
  expect(crux('encrypt', 'generate')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^[\w-]{43}\n$/) })
})
