import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Release } from '@crux/agent-protocol'
import { registryAccount, startRegistry } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { removeImages, startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

let testEnvironment: TestEnvironment
let web: string
let tool: string

beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  web = (await testEnvironment.publish('web:1', webImage('one'))).reference
  tool = (await testEnvironment.publish('tool:1', { volumes: ['/scratch'] })).reference
})
afterEach(async () => {
  await testEnvironment.clear()
  await rm(join(testEnvironment.dataDir, testEnvironment.owner.prefix), { recursive: true, force: true })
})
afterAll(() => testEnvironment.dispose())

const run = (script: string) => ({ command: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: script }] })
const volume = (...parts: string[]) => join(testEnvironment.dataDir, testEnvironment.owner.prefix, ...parts)
const read = (...parts: string[]) => readFile(volume(...parts), 'utf8')
const succeed = async (release: Release) =>
  expect(await testEnvironment.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
const withWeb = (config: object, more: object = {}) => ({
  instanceId: 'web',
  image: web,
  ...more,
  config: { name: 'web', ...config },
})

describe('init containers', () => {
  test('run in order before the container with linked volumes, own and parent environment, and are removed', async () => {
    const release = testEnvironment.release({
      instances: [
        withWeb({
          environment: [
            { key: 'COLOUR', value: 'blue' },
            { key: 'SHAPE', value: 'round' },
          ],
          secrets: [
            { key: 'TOKEN', required: true, value: await testEnvironment.seal('plain-token'), encrypted: true },
          ],
          volumes: [{ name: 'data', path: '/data', type: 'ro' }],
          initContainers: [
            {
              name: 'first',
              image: tool,
              ...run('env > /v/first; echo from-first; date > /scratch/x'),
              environment: [{ key: 'COLOUR', value: 'red' }],
              useParentConfig: true,
              volumes: [{ name: 'data', path: '/v' }],
            },
            {
              name: 'second',
              image: tool,
              ...run('test -e /w/first && env > /w/second'),
              volumes: [{ name: 'data', path: '/w' }],
            },
          ],
        }),
      ],
    })
    await succeed(release)
    expect((await read('web', 'data', 'first')).split('\n')).toEqual(
      expect.arrayContaining(['COLOUR=red', 'SHAPE=round', 'TOKEN=plain-token']),
    )
    const second = await read('web', 'data', 'second')
    expect(second).not.toContain('SHAPE')
    expect(second).not.toContain('TOKEN')
    expect(testEnvironment.server.toLines(release, true)).toContain('from-first')
    expect(testEnvironment.server.toLines(release).join('\n')).toMatch(
      /init container first ended.*init container second ended/s,
    )
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
    expect(
      JSON.stringify(release.key ? testEnvironment.server.listEvents(release.key) : [], (_, value) =>
        typeof value === 'bigint' ? Number(value) : value,
      ),
    ).not.toContain('plain-token')
  })

  test('of a rollback are those that ran then even where their tags have moved since', async () => {
    const filling = (text: string) => makeFiller(text).then(({ digest }) => digest)
    const makeFiller = (text: string) =>
      testEnvironment.publish('filler:1', {
        files: { '/fill': `#!/bin/sh\necho ${text} > /v/who\n`, '/conf/who': text },
      })
    const filler = `${testEnvironment.registry.host}/filler:1`
    const instance = withWeb({
      volumes: [
        { name: 'data', path: '/data', type: 'ro' },
        { name: 'conf', path: '/conf', type: 'ro' },
      ],
      configContainer: { image: filler, path: '/conf', keepFiles: false, volume: 'conf' },
      initContainers: [
        { name: 'fill', image: filler, command: [{ key: '/fill' }], volumes: [{ name: 'data', path: '/v' }] },
      ],
    })
    const old = await filling('old')
    const first = testEnvironment.release({ instances: [instance] })
    await succeed(first)
    const resolved = (first.key ? testEnvironment.server.listEvents(first.key) : []).flatMap(({ event }) =>
      event.case === 'resolved' ? [event.value.preparationDigests] : [],
    )
    expect(resolved).toEqual([{ [filler]: old }])
    expect(await filling('new')).not.toBe(old)
    await succeed(testEnvironment.release({ instances: [instance] }))
    expect([(await read('web', 'data', 'who')).trim(), await read('web', 'conf', 'who')]).toEqual(['new', 'new'])
    await succeed(testEnvironment.release({ instances: [{ ...instance, preparationDigests: { [filler]: old } }] }))
    expect([(await read('web', 'data', 'who')).trim(), await read('web', 'conf', 'who')]).toEqual(['old', 'old'])
  })

  test('find the neighbours of the container by their names where they get its networks', async () => {
    await succeed(testEnvironment.release({ instances: [{ instanceId: 'db', image: web, config: { name: 'db' } }] }))
    await succeed(
      testEnvironment.release({
        partial: true,
        instances: [
          withWeb({
            initContainers: [
              { name: 'ask', image: tool, ...run('wget -q -O /dev/null http://db:8080/'), useParentConfig: true },
            ],
          }),
        ],
      }),
    )
  })

  test('that fail end the release with their last lines while the old container keeps answering', async () => {
    await succeed(testEnvironment.release({ instances: [withWeb({})] }))
    const { Id } = await testEnvironment.inspect('web')
    const release = testEnvironment.release({
      instances: [
        withWeb({ initContainers: [{ name: 'migrate', image: tool, ...run('echo no such table; exit 7') }] }),
      ],
    })
    const outcome = await testEnvironment.server.deployAndWait(release)
    expect(outcome).toMatchObject({ successful: false, instanceId: 'web', previousRestored: true })
    expect(outcome.reason).toBe('the init container migrate failed: exit code 7')
    expect(testEnvironment.server.toLines(release, true)).toEqual(['no such table'])
    expect((await testEnvironment.inspect('web')).Id).toBe(Id)
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
  })

  test('that write data of the old container run after its end', async () => {
    const volumes = [{ name: 'data', path: '/data', type: 'ro' as const }]
    await succeed(testEnvironment.release({ instances: [withWeb({ volumes })] }))
    const release = testEnvironment.release({
      instances: [
        withWeb({
          volumes,
          initContainers: [
            { name: 'write', image: tool, ...run('echo x > /v/x'), volumes: [{ name: 'data', path: '/v' }] },
          ],
        }),
      ],
    })
    await succeed(release)
    expect(testEnvironment.server.toLines(release)).toContain(
      `${testEnvironment.name('web')} pauses while it is replaced: both use the volume at /data`,
    )
    const lines = testEnvironment.server.toLines(release)
    const at = (part: string) => lines.findIndex((line) => line.includes(part))
    expect(at(`stopping ${testEnvironment.name('web')}`)).toBeLessThan(at('the init container write ended'))
    const events = release.key ? testEnvironment.server.listEvents(release.key) : []
    const silenced = events.flatMap(({ event }) => (event.case === 'log' && event.value.silences) || [])
    expect(silenced).toEqual([testEnvironment.name('web')])
  })

  test('in progress are ended by a cancellation with the volumes that the engine created for them', async () => {
    const release = testEnvironment.release({
      instances: [withWeb({ initContainers: [{ name: 'wait', image: tool, ...run('sleep 1000') }] })],
    })
    testEnvironment.server.deploy(release)
    const name = `${testEnvironment.name('web')}.init-wait`
    const found = await waitUntil('the init container runs', async () => {
      if (!(await testEnvironment.names()).includes(name)) return undefined
      // The engine lists a container a moment before it can be found by its name.
      const seen = await testEnvironment.docker
        .getContainer(name)
        .inspect()
        .catch((error: { statusCode?: number }) => {
          if (error.statusCode === 404) return undefined
          throw error
        })
      return seen?.State.Running ? seen : undefined
    })
    // The image keeps data in a VOLUME: the engine creates an anonymous one, which must not stay.
    const anonymous = found.Mounts.find(({ Destination }) => Destination === '/scratch')?.Name ?? ''
    expect((await testEnvironment.docker.getVolume(anonymous).inspect()).Name).toBe(anonymous)
    testEnvironment.server.send({ case: 'cancelDeployment', value: release.key ? { release: release.key } : {} })
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ successful: false, cancelled: true })
    expect(await testEnvironment.names()).toEqual([])
    await expect(testEnvironment.docker.getVolume(anonymous).inspect()).rejects.toThrow('no such volume')
  })

  test('are fetched with the credentials of the registry that they share with the container and of no other', async () => {
    const guarded = await startRegistry({ auth: true })
    const auth = { username: registryAccount.user, password: registryAccount.token }
    try {
      const image = `${guarded.host}/tool:1`
      await guarded.push('tool', '1', {})
      const instance = (own: string) => ({
        ...withWeb({ initContainers: [{ name: 'one', image, ...run('true') }] }),
        image: own,
        auth: { serverAddress: guarded.host, ...auth },
      })
      const refused = await testEnvironment.server.deployAndWait(
        testEnvironment.release({ instances: [instance(web)] }),
      )
      expect(refused.reason).toContain(`refuses access to ${image}`)
      const own = `${guarded.host}/web:1`
      await guarded.push('web', '1', webImage('guarded'))
      await succeed(testEnvironment.release({ instances: [instance(own)] }))
    } finally {
      await removeImages(testEnvironment.docker, guarded.host)
      await guarded.remove()
    }
  })
})

describe('a config container', () => {
  const files = { '/etc/app/one.conf': 'one', '/etc/app/deep/two.conf': 'two', '/etc/app/page': 'page' }
  const config = (image: string, more: object = {}) =>
    withWeb({
      volumes: [{ name: 'conf', path: '/conf', type: 'rwo' }],
      configContainer: { image, volume: 'conf', path: '/etc/app', keepFiles: false, ...more },
    })

  test('copies the files of an image without a shell and removes others unless they are to stay', async () => {
    const { reference } = await testEnvironment.publish('conf:1', { files, bare: true })
    await mkdir(volume('web', 'conf', 'old'), { recursive: true })
    await writeFile(volume('web', 'conf', 'old', 'file'), 'old')
    const keeping = testEnvironment.release({ instances: [config(reference, { keepFiles: true })] })
    await succeed(keeping)
    expect(await read('web', 'conf', 'one.conf')).toBe('one')
    expect(await read('web', 'conf', 'deep', 'two.conf')).toBe('two')
    expect(await read('web', 'conf', 'old', 'file')).toBe('old')
    expect((await testEnvironment.exec('web', ['/bin/cat', '/conf/deep/two.conf'])).trim()).toBe('two')
    await succeed(testEnvironment.release({ instances: [config(reference)] }))
    expect((await readdir(volume('web', 'conf'))).sort()).toEqual(['deep', 'one.conf', 'page'])
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
  })

  test('follows a link at its path and copies a single file', async () => {
    const { reference } = await testEnvironment.publish('conf:2', {
      files,
      links: { '/current': '/etc/app' },
      bare: true,
    })
    await succeed(testEnvironment.release({ instances: [config(reference, { path: '/current/' })] }))
    expect((await readdir(volume('web', 'conf'))).sort()).toEqual(['deep', 'one.conf', 'page'])
    await succeed(testEnvironment.release({ instances: [config(reference, { path: '/etc/app/one.conf' })] }))
    expect(await readdir(volume('web', 'conf'))).toEqual(['one.conf'])
  })

  test('copies a whole image without the files that the engine adds to each container', async () => {
    const { reference } = await testEnvironment.publish('conf:6', {
      files: { '/one.conf': 'one', '/etc/two.conf': 'two' },
      bare: true,
    })
    await succeed(testEnvironment.release({ instances: [config(reference, { path: '/' })] }))
    expect((await readdir(volume('web', 'conf'))).sort()).toEqual(['etc', 'one.conf'])
    expect(await readdir(volume('web', 'conf', 'etc'))).toEqual(['two.conf'])
  })

  test('writes through no link that a container created in the volume', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'crux-outside-'))
    try {
      await writeFile(join(outside, 'two.conf'), 'mine')
      await mkdir(volume('web', 'conf'), { recursive: true })
      await symlink(outside, volume('web', 'conf', 'deep'))
      await symlink(join(outside, 'two.conf'), volume('web', 'conf', 'one.conf'))
      const { reference } = await testEnvironment.publish('conf:3', {
        files,
        links: { '/etc/app/away': '/etc/passwd' },
        bare: true,
      })
      await succeed(testEnvironment.release({ instances: [config(reference)] }))
      expect(await readFile(join(outside, 'two.conf'), 'utf8')).toBe('mine')
      expect(await readdir(outside)).toEqual(['two.conf'])
      expect(await read('web', 'conf', 'deep', 'two.conf')).toBe('two')
      expect(await read('web', 'conf', 'one.conf')).toBe('one')
    } finally {
      await rm(outside, { recursive: true, force: true })
    }
  })

  test('copies again when its tag was pushed again although nothing else changed', async () => {
    const { reference } = await testEnvironment.publish('conf:4', { files, bare: true })
    await succeed(testEnvironment.release({ instances: [config(reference)] }))
    const { Id } = await testEnvironment.inspect('web')
    await succeed(testEnvironment.release({ instances: [config(reference)] }))
    expect((await testEnvironment.inspect('web')).Id).toBe(Id)
    await testEnvironment.publish('conf:4', { files: { '/etc/app/one.conf': 'new' }, bare: true })
    await succeed(testEnvironment.release({ instances: [config(reference)] }))
    expect(await read('web', 'conf', 'one.conf')).toBe('new')
    expect(existsSync(volume('web', 'conf', 'page'))).toBe(false)
  })

  test('without the path in its image fails with a message', async () => {
    const { reference } = await testEnvironment.publish('conf:5', { files, bare: true })
    const { reason } = await testEnvironment.server.deployAndWait(
      testEnvironment.release({ instances: [config(reference, { path: '/nowhere' })] }),
    )
    expect(reason).toMatch(/^copying \/nowhere of .*conf:5 into conf: /)
    expect(await testEnvironment.names()).toEqual([])
  })
})
