import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { FailureCode, Operation } from '@crux/agent-protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestEnvironment, type TestEnvironment, webImage } from './kit/index.ts'

let testEnvironment: TestEnvironment
let web: string
let files: string
/** A directory of the node that no release of these tests may access. */
let outside: string

beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  web = (await testEnvironment.publish('web:1', webImage('one'))).reference
  files = (await testEnvironment.publish('files:1', { files: { '/etc/app/index.html': 'page' }, bare: true })).reference
})
beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'crux-outside-'))
  await writeFile(join(outside, 'secret'), 'of the node')
})
afterEach(async () => {
  await testEnvironment.clear()
  await rm(outside, { recursive: true, force: true })
  await rm(join(testEnvironment.dataDir, testEnvironment.owner.prefix), { recursive: true, force: true })
})
afterAll(() => testEnvironment.dispose())

const volume = (...parts: string[]) => join(testEnvironment.dataDir, testEnvironment.owner.prefix, 'web', ...parts)
const instance = (config: object, name = 'web') => ({ instanceId: name, image: web, config: { name, ...config } })
const deploy = (config: object, more: object = {}) =>
  testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [instance(config)], ...more }))
const succeed = async (config: object, more: object = {}) =>
  expect(await deploy(config, more)).toMatchObject({ successful: true, reason: '' })
const getReason = async (config: object, more: object = {}) => {
  const { successful, reason } = await deploy(config, more)
  expect(successful).toBe(false)
  return reason
}
const data = { name: 'data', path: '/data' }
const filled = (name: string) => ({
  volumes: [{ name, path: '/filled' }],
  user: 12345,
  configContainer: { image: files, volume: name, path: '/etc/app', keepFiles: true },
})

/** Nothing in it was created, changed, given to another owner or removed. */
async function expectUntouched(): Promise<void> {
  expect(await readdir(outside)).toEqual(['secret'])
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('of the node')
  const { uid } = await stat(import.meta.filename)
  expect((await stat(outside)).uid).toBe(process.getuid?.() ?? uid)
}

describe('a volume that lies inside another one', () => {
  test('does not mount the target of a link that the container created', async () => {
    await succeed({ volumes: [data] })
    await testEnvironment.exec('web', ['/bin/ln', '-sfn', outside, '/data/x'])
    const { Id } = await testEnvironment.inspect('web')
    const outcome = await deploy({ volumes: [{ name: 'data/x', path: '/host' }] })
    expect(outcome).toMatchObject({ successful: false, instanceId: 'web', previousRestored: true })
    expect((await testEnvironment.inspect('web')).Id).toBe(Id)
    await expectUntouched()
  })

  test('is not filled and keeps its owner where the container created a link', async () => {
    await succeed({ volumes: [data] })
    await testEnvironment.exec('web', ['/bin/ln', '-sfn', outside, '/data/y'])
    expect(await getReason(filled('data/y/made'))).toContain('is not a name for a volume')
    await expectUntouched()
  })

  test('of an old release fails with a message that contains the path of its data and leaves the data untouched', async () => {
    await mkdir(volume('data', 'deep'), { recursive: true })
    await writeFile(volume('data', 'deep', 'file'), 'kept')
    const reason = await getReason({ volumes: [{ name: 'data/deep', path: '/deep' }] })
    expect(reason).toContain(`What it held lies in ${volume('data', 'deep')} on the node and was not touched`)
    expect(await readFile(volume('data', 'deep', 'file'), 'utf8')).toBe('kept')
    expect(await testEnvironment.names()).toEqual([])
  })

  test('may still be mounted below another one inside the container', async () => {
    await succeed({ volumes: [data, { name: 'cache', path: '/data/cache' }] })
    await testEnvironment.exec('web', ['/bin/sh', '-c', 'echo inner > /data/cache/file'])
    expect(await readFile(volume('cache', 'file'), 'utf8')).toBe('inner\n')
  })
})

describe('the directory of a volume', () => {
  test('is not used where it or a parent is a link and nothing is created behind the link', async () => {
    for (const at of [volume('data'), volume(), dirname(volume())]) {
      await mkdir(dirname(at), { recursive: true })
      await symlink(outside, at)
      expect(await getReason({ volumes: [data], user: 12345 })).toContain(`${at} is a link or a file`)
      expect(await getReason(filled('data'))).toContain(`${at} is a link or a file`)
      await expectUntouched()
      await rm(at)
      await rm(join(testEnvironment.dataDir, testEnvironment.owner.prefix), { recursive: true, force: true })
    }
  })

  test('is not used while other users can replace a directory above it', async () => {
    await succeed({ volumes: [data] })
    for (const at of [volume(), dirname(volume())]) {
      await chmod(at, 0o775)
      expect(await getReason({ volumes: [data, { name: 'more', path: '/more' }] })).toContain(`chmod go-w ${at}`)
      await chmod(at, 0o755)
    }
    await chmod(testEnvironment.dataDir, 0o777)
    expect(await getReason({ volumes: [data, { name: 'more', path: '/more' }] })).toContain(
      `chmod go-w ${testEnvironment.dataDir}`,
    )
    await chmod(testEnvironment.dataDir, 0o700)
    await succeed({ volumes: [data, { name: 'more', path: '/more' }] })
  })

  test.runIf(process.getuid?.() === 0)('is not used while a directory above it belongs to another user', async () => {
    await succeed({ volumes: [data] })
    await chown(volume(), 12345, -1)
    expect(await getReason({ volumes: [data, { name: 'more', path: '/more' }] })).toContain(`chown 0 ${volume()}`)
    await chown(volume(), 0, -1)
  })

  test('is checked again when an existing container is started', async () => {
    await succeed({ volumes: [data] })
    const container = { prefix: testEnvironment.owner.prefix, name: 'web' }
    const operate = (operation: Operation) =>
      testEnvironment.server.ask({ case: 'operateContainer', value: { container, operation } })
    expect((await operate(Operation.STOP)).case).toBe('done')
    await rename(volume('data'), volume('aside'))
    await symlink(outside, volume('data'))
    for (const operation of [Operation.START, Operation.RESTART])
      expect(await operate(operation)).toMatchObject({
        case: 'failure',
        value: { code: FailureCode.REFUSED, message: expect.stringContaining('is a link or a file') },
      })
    expect((await testEnvironment.inspect('web')).State.Running).toBe(false)
    await rm(volume('data'))
    await rename(volume('aside'), volume('data'))
    expect((await operate(Operation.START)).case).toBe('done')
  })

  test.runIf(process.getuid?.() === 0)(
    'is writable for a container with another user although no other user of the node can access it',
    async () => {
      await succeed({ volumes: [data], user: 12345 })
      await testEnvironment.exec('web', ['/bin/sh', '-c', 'id -u > /data/user'])
      expect(await readFile(volume('data', 'user'), 'utf8')).toBe('12345\n')
      expect((await stat(volume('data', 'user'))).uid).toBe(12345)
      expect((await stat(testEnvironment.dataDir)).mode & 0o777).toBe(0o700)
    },
  )

  test('is closed to other users by the next start of the agent as are the directories above it', async () => {
    await succeed({ volumes: [data] })
    const directories = [testEnvironment.dataDir, dirname(volume()), volume(), join(testEnvironment.dataDir, '.agent')]
    for (const directory of directories) await chmod(directory, 0o777)
    await chmod(volume('data'), 0o777)
    await testEnvironment.restartAgent()
    const modes = await Promise.all(directories.map(async (directory) => (await stat(directory)).mode & 0o777))
    expect(modes).toEqual([0o700, 0o755, 0o755, 0o700])
    expect((await stat(volume('data'))).mode & 0o777).toBe(0o777)
    await succeed({ volumes: [data, { name: 'more', path: '/more' }] })
  })
})

describe('a path of the node', () => {
  const allowed = { hostDangerousAllowed: true }
  const mounting = (name: string, type: 'ro' | 'rwo' = 'ro') => ({ volumes: [{ name, path: '/host', type }] })

  test('is refused to all users where it overlaps the data directory of the agent under any name', async () => {
    const link = join(outside, 'link')
    await symlink(testEnvironment.dataDir, link)
    await symlink(dirname(testEnvironment.dataDir), join(outside, 'above'))
    for (const path of [
      '/',
      dirname(testEnvironment.dataDir),
      testEnvironment.dataDir,
      `${testEnvironment.dataDir}/`,
      join(testEnvironment.dataDir, '.agent'),
      join(testEnvironment.dataDir, 'other', 'web', 'data', 'deep'),
      link,
      join(link, '.agent'),
      join(outside, 'above'),
      `/proc/self/root${testEnvironment.dataDir}`,
    ]) {
      const reason = await getReason(mounting(path), allowed)
      expect(reason).toMatch(/overlaps .*it cannot be mounted|is not the directory of a volume/)
    }
    expect(await testEnvironment.names()).toEqual([])
    await rm(link)
    await rm(join(outside, 'above'))
    await succeed(mounting(outside), allowed)
  })

  test('is refused inside another path of the release while one of them can be written', async () => {
    await mkdir(join(outside, 'deep'))
    const two = (outer: 'ro' | 'rwo', inner: 'ro' | 'rwo') =>
      testEnvironment.server.deployAndWait(
        testEnvironment.release({
          ...allowed,
          instances: [instance(mounting(outside, outer)), instance(mounting(join(outside, 'deep'), inner), 'other')],
        }),
      )
    for (const [outer, inner] of [
      ['rwo', 'ro'],
      ['ro', 'rwo'],
    ] as const)
      expect(await two(outer, inner)).toMatchObject({
        successful: false,
        instanceId: 'other',
        reason: expect.stringContaining(`lies inside ${outside}`),
      })
    expect(await two('ro', 'ro')).toMatchObject({ successful: true })
  })

  test('is filled at its real location and never inside the data directory', async () => {
    await mkdir(join(outside, 'real', 'made'), { recursive: true })
    await symlink(join(outside, 'real'), join(outside, 'link'))
    const target = join(outside, 'link', 'made')
    const config = {
      volumes: [{ name: target, path: '/host' }],
      configContainer: { image: files, volume: target, path: '/etc/app', keepFiles: true },
    }
    await succeed(config, allowed)
    expect(await readFile(join(outside, 'real', 'made', 'index.html'), 'utf8')).toBe('page')
    await rm(join(outside, 'link'))
    await symlink(join(testEnvironment.dataDir, '.agent'), join(outside, 'link'))
    expect(await getReason(config, allowed)).toContain('it cannot be mounted')
    expect(await readdir(join(testEnvironment.dataDir, '.agent'))).not.toContain('made')
  })
})
