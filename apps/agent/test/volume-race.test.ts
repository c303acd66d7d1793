import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStorage, storageAccount, storageMissing, type TestStorage } from '@crux/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

const rounds = process.env.CRUX_TEST_FULL ? 200 : 8
const timeoutMs = process.env.CRUX_TEST_FULL ? 45 * 60_000 : 240_000

const missing = storageMissing()
let testEnvironment: TestEnvironment
let storage: TestStorage | undefined
let web: string
let tool: string
let files: string
/** A directory of the node that no part of the releases may access. */
let outside: string

beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  web = (await testEnvironment.publish('web:1', webImage('one'))).reference
  tool = (await testEnvironment.publish('tool:1', {})).reference
  const names = ['a/b', 'index.html']
  files = (
    await testEnvironment.publish('files:1', {
      files: Object.fromEntries(names.map((name) => [`/etc/app/${name}`, `page ${name}`])),
      links: { '/etc/app/link': '/etc/passwd' },
      bare: true,
    })
  ).reference
  if (!missing) {
    storage = await startStorage()
    await storage.createBucket('assets')
    for (const name of names) await storage.put('assets', name, `object ${name}`)
  }
  outside = await mkdtemp(join(tmpdir(), 'crux-outside-'))
  await mkdir(join(outside, 'b'))
  for (const name of ['secret', 'b/secret', 'index.html']) await writeFile(join(outside, name), 'of the node')
  // The directory is open to all users, so that only the agent's checks protect it.
  for (const name of ['.', 'b']) await chmod(join(outside, name), 0o777)
})
afterAll(async () => {
  await testEnvironment.clear()
  await testEnvironment.dispose()
  await storage?.dispose()
  await rm(outside, { recursive: true, force: true })
})

const volumes = ['conf', 'assets', 'init', 'given']
const volume = (...parts: string[]) => join(testEnvironment.dataDir, testEnvironment.owner.prefix, 'web', ...parts)

/** Replaces the entries that the agent is about to open by links out of the volume and back, as fast as it can. */
const attack = (target: string) => `
  while :; do
    for v in ${volumes.join(' ')}; do
      cd /v/$v
      rm -rf a; ln -s ${target} a
      rm -rf index.html; ln -s ${target}/secret index.html
      rm -f a; mkdir a 2>/dev/null; ln -sfn ${target}/secret a/b
      rm -rf a/b; ln -sfn ${target} a/b
      for p in .crux-*; do ln -sfn ${target}/secret "$p"; done
      rm -rf a index.html
    done
  done`

/** All properties that a change, a new owner or a new link would alter. */
async function describeOutside(): Promise<unknown[]> {
  const names = ['.', ...(await readdir(outside, { recursive: true })).sort()]
  return Promise.all(
    names.map(async (name) => {
      const { uid, gid, mode, size, nlink, ino, mtimeMs, ctimeMs, atimeMs } = await lstat(join(outside, name))
      return { name, uid, gid, mode, size, nlink, ino, mtimeMs, ctimeMs, atimeMs }
    }),
  )
}

/** Directories and files of volumes that this process, which also runs the agent, has open. */
async function heldOpen(): Promise<string[]> {
  const targets = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  return (await Promise.all(targets)).filter((target) => target.startsWith(volume())).sort()
}

/** An access after this changes the time of the last access, where the file system stores that. */
async function forgetAccess(): Promise<void> {
  for (const name of ['b/secret', 'index.html', 'secret', 'b', '.'])
    await utimes(join(outside, name), new Date(1_000_000_000_000), new Date(1_500_000_000_000))
}

test(
  `links that a container creates in its volumes lead nowhere while ${rounds} releases are applied`,
  async () => {
    const deploy = (config: object) =>
      testEnvironment.server.deployAndWait(
        testEnvironment.release({
          recreate: true,
          instances: [
            {
              instanceId: 'web',
              image: web,
              ...(storage ? { storage: { url: storage.url, ...storageAccount } } : {}),
              config: { name: 'web', user: 12345, ...config },
            },
          ],
        }),
        120_000,
      )
    const mounted = volumes.map((name) => ({ name, path: `/${name}` }))
    expect(await deploy({ volumes: mounted })).toMatchObject({ successful: true, reason: '' })

    const held = await heldOpen()
    await forgetAccess()
    const before = await describeOutside()
    const attacker = await testEnvironment.docker.createContainer({
      name: testEnvironment.name('attacker'),
      Image: tool,
      Entrypoint: ['/bin/sh', '-c', attack(outside)],
      HostConfig: { Binds: volumes.map((name) => `${volume(name)}:/v/${name}`) },
    })
    await attacker.start()
    await waitUntil(
      'the first link',
      async () => (await lstat(volume('conf', 'a')).catch(() => undefined)) !== undefined,
    )

    const reasons = new Map<string, number>()
    let successful = 0
    for (let round = 0; round < rounds; round += 1) {
      const isNested = round % 8 === 7
      // Each attack by itself and all together: a step that fails keeps later steps out of the race.
      const does = (what: number) => round % 4 === what || round % 4 === 3
      const outcome = await deploy({
        volumes: [
          ...mounted,
          { name: `extra-${round}`, path: '/extra' },
          ...(isNested ? [{ name: 'given/a', path: '/nested' }] : []),
        ],
        ...(does(0)
          ? { configContainer: { image: files, volume: 'conf', path: '/etc/app', keepFiles: round % 8 < 4 } }
          : {}),
        ...(storage && does(1)
          ? { storage: { storageId: '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e', bucket: 'assets', path: 'assets' } }
          : {}),
        initContainers: does(2)
          ? [
              {
                name: 'init',
                image: tool,
                command: [{ key: '/bin/sh' }, { key: '-c' }],
                args: [{ key: 'mkdir -p /v/a; echo x > /v/a/b; chown -R 12345 /v; true' }],
                volumes: [{ name: 'init', path: '/v' }],
              },
            ]
          : [],
      })
      if (isNested) expect(outcome).toMatchObject({ successful: false, instanceId: 'web' })
      if (outcome.successful) successful += 1
      else reasons.set(outcome.reason, (reasons.get(outcome.reason) ?? 0) + 1)
      expect(await describeOutside(), outcome.reason).toEqual(before)
    }
    expect((await attacker.inspect()).State.Running).toBe(true)
    await attacker.remove({ force: true })
    expect(await heldOpen()).toEqual(held)

    // The agent copied only files of the image and the bucket, never the target of a link.
    for (const name of volumes)
      for (const entry of await readdir(volume(name), { recursive: true, withFileTypes: true }))
        if (entry.isFile())
          expect(await readFile(join(entry.parentPath, entry.name), 'utf8')).not.toContain('of the node')
    console.info(`${successful} of ${rounds} releases succeeded`, Object.fromEntries(reasons))
    // The same release without an attacker succeeds, so the test did not only see refusals.
    expect(
      await deploy({
        volumes: mounted,
        configContainer: { image: files, volume: 'conf', path: '/etc/app', keepFiles: false },
      }),
    ).toMatchObject({ successful: true, reason: '' })
    expect(await readFile(volume('conf', 'a', 'b'), 'utf8')).toBe('page a/b')
  },
  timeoutMs,
)
