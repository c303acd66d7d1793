import { chmodSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { expect, test } from 'vitest'
import { bootSystem } from './index.ts'
import { secureInstallation } from './permissions.ts'

const log = createLogger({ name: 'test', level: 'silent' })
const getMode = (...path: string[]) => (statSync(join(...path)).mode & 0o7777).toString(8)

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'permissions-'))
  // PostgreSQL runs as another user when this test runs as root.
  chmodSync(directory, 0o755)
  return directory
}

function makeOldInstallation(): string {
  const dataDir = join(makeDirectory(), 'data')
  for (const name of ['agents/one/shop/web/data', 'run', 'logs', 'secrets'])
    mkdirSync(join(dataDir, name), { recursive: true })
  for (const name of ['.', 'agents', 'agents/one', 'run', 'logs']) chmodSync(join(dataDir, name), 0o755)
  for (const name of ['run/server.json', 'ports.json', 'logs/server.log']) {
    writeFileSync(join(dataDir, name), '{}')
    chmodSync(join(dataDir, name), 0o644)
  }
  writeFileSync(join(dataDir, 'agents/one/shop/web/data/program'), '')
  chmodSync(join(dataDir, 'agents/one/shop/web/data/program'), 0o4755)
  return dataDir
}

test('an installation of an older version is closed to other users, and works with its database as before', async () => {
  const dataDir = makeOldInstallation()
  const free = { port: 0, identityPublicPort: 0, identityAdminPort: 0, durable: false, log }
  const system = await bootSystem({ dataDir, ...free })
  try {
    expect((await fetch(`${system.url}/health/ready`)).status).toBe(200)
    expect(getMode(dataDir)).toBe('711')
    for (const name of ['agents', 'agents/one', 'run', 'logs', 'secrets'])
      expect(getMode(dataDir, name), name).toBe('700')
    for (const name of ['ports.json', 'owner', ...readdirSync(join(dataDir, 'run')).map((file) => `run/${file}`)])
      expect(getMode(dataDir, name), name).toBe('600')
    for (const name of readdirSync(join(dataDir, 'logs'))) expect(getMode(dataDir, 'logs', name), name).toBe('600')
    // Files of containers are not changed; their parent directories are closed instead.
    expect(getMode(dataDir, 'agents/one/shop/web/data/program')).toBe('4755')
  } finally {
    await system.destroy()
  }
})

test('a new data directory can be passed through by other users, but not listed', () => {
  const dataDir = join(makeDirectory(), 'deep', 'data')
  secureInstallation(dataDir)
  expect(getMode(dataDir)).toBe('711')
})

test('a closed directory gets no additional permissions, and links and shared directories are not changed', () => {
  const directory = makeDirectory()
  chmodSync(directory, 0o700)
  mkdirSync(join(directory, 'elsewhere'))
  chmodSync(join(directory, 'elsewhere'), 0o777)
  symlinkSync(join(directory, 'elsewhere'), join(directory, 'agents'))
  secureInstallation(directory)
  expect(getMode(directory)).toBe('700')
  expect(getMode(directory, 'elsewhere')).toBe('777')
  chmodSync(join(directory, 'elsewhere'), 0o1777)
  secureInstallation(join(directory, 'elsewhere'))
  expect(getMode(directory, 'elsewhere')).toBe('1777')
})
