import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Release } from '@crux/agent-protocol'
import { startStorage, storageAccount, storageMissing, type TestStorage } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

const missing = storageMissing()
if (missing) console.warn(`imports from a storage are not tested: it ${missing}`)

describe.skipIf(missing)('the import from a storage', () => {
  let testEnvironment: TestEnvironment
  let storage: TestStorage
  let web: string
  beforeAll(async () => {
    ;[testEnvironment, storage] = await Promise.all([startTestEnvironment(), startStorage()])
    web = (await testEnvironment.publish('web:1', webImage('one'))).reference
    await storage.createBucket('assets')
  })
  afterEach(async () => {
    await testEnvironment.clear()
    await rm(join(testEnvironment.dataDir, testEnvironment.owner.prefix), { recursive: true, force: true })
  })
  afterAll(async () => {
    await testEnvironment.dispose()
    await storage.dispose()
  })

  const volume = (...parts: string[]) =>
    join(testEnvironment.dataDir, testEnvironment.owner.prefix, 'web', 'files', ...parts)
  const release = (bucket: string, more: { access?: object; config?: object; recreate?: boolean } = {}): Release =>
    testEnvironment.release({
      recreate: more.recreate ?? false,
      instances: [
        {
          instanceId: 'web',
          image: web,
          storage: { url: storage.url, ...storageAccount, ...more.access },
          config: {
            name: 'web',
            volumes: [{ name: 'files', path: '/files', type: 'ro' }],
            storage: { storageId: '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e', bucket, path: 'files' },
            ...more.config,
          },
        },
      ],
    })
  const succeed = async (order: Release) => {
    expect(await testEnvironment.server.deployAndWait(order)).toMatchObject({ successful: true, reason: '' })
    return testEnvironment.server.toLines(order).find((line) => line.startsWith('imported'))
  }

  test('mirrors a prefix of the bucket by fetching differences, keeping the rest and removing what is gone', async () => {
    const odd = 'a folder/ü & +<%>*(1).txt'
    await storage.put('assets', 'site/index.html', 'hello')
    await storage.put('assets', `site/${odd}`, 'odd')
    await storage.put('assets', 'other/secret', 'not this')
    await mkdir(volume('stale'), { recursive: true })
    await writeFile(volume('stale', 'file'), 'x')
    const first = release('assets/site')
    expect(await succeed(first)).toBe('imported 2 files (8 bytes) into files, 0 were there already, 1 removed')
    expect(await readFile(volume('index.html'), 'utf8')).toBe('hello')
    expect(await readFile(volume(odd), 'utf8')).toBe('odd')
    expect((await readdir(volume())).sort()).toEqual(['a folder', 'index.html'])
    expect((await testEnvironment.exec('web', ['/bin/cat', '/files/index.html'])).trim()).toBe('hello')
    const progress = (first.key ? testEnvironment.server.listEvents(first.key) : []).flatMap(({ event }) =>
      event.case === 'progress' ? [event.value] : [],
    )
    expect(progress.at(-1)).toMatchObject({ status: 'Import complete', currentBytes: 8n, totalBytes: 8n })

    await storage.put('assets', 'site/index.html', 'changed')
    await storage.remove('assets', `site/${odd}`)
    await storage.put('assets', 'site/new.txt', 'new')
    const before = (await stat(volume('index.html'))).ino
    expect(await succeed(release('assets/site', { recreate: true }))).toBe(
      'imported 2 files (10 bytes) into files, 0 were there already, 1 removed',
    )
    expect((await readdir(volume())).sort()).toEqual(['index.html', 'new.txt'])
    expect(await readFile(volume('index.html'), 'utf8')).toBe('changed')
    expect((await stat(volume('index.html'))).ino).not.toBe(before)
    expect(await succeed(release('assets/site', { recreate: true }))).toBe(
      'imported 0 files (0 bytes) into files, 2 were there already, 0 removed',
    )
  })

  test('reads listings of several pages, fetches in parallel, and gives the files to the user of the container', async () => {
    await storage.createBucket('many')
    const names = Array.from({ length: 1_100 }, (_, index) => `${index % 7}/${index}`)
    const modifiedAt = new Date(Date.UTC(2026, 0, 2))
    await storage.fill('many', Object.fromEntries(names.map((name) => [name, name])), modifiedAt)
    // Most files exist already: files of a page that is not read would be removed, and a thousand transfers would prove nothing more.
    for (const name of names.filter((_, index) => index % 20 !== 0)) {
      await mkdir(dirname(volume(name)), { recursive: true })
      await writeFile(volume(name), name)
      await utimes(volume(name), modifiedAt, modifiedAt)
    }
    expect(await succeed(release('many', { config: { user: 1_000 } }))).toMatch(
      /^imported 55 files .* 1045 were there already, 0 removed$/,
    )
    for (const name of [names[0], names[560], names[1_080]]) {
      expect(await readFile(volume(name ?? ''), 'utf8')).toBe(name)
      expect((await stat(volume(name ?? ''))).uid).toBe(process.getuid?.() === 0 ? 1_000 : process.getuid?.())
    }
    expect((await readdir(volume('3'))).length).toBe(157)
  })

  test('writes through no link that is in the volume', async () => {
    const outside = join(testEnvironment.dataDir, 'outside')
    await storage.put('assets', 'links/deep/file', 'new')
    await mkdir(outside, { recursive: true })
    await writeFile(join(outside, 'file'), 'mine')
    await mkdir(volume(), { recursive: true })
    await symlink(outside, volume('deep'))
    await succeed(release('assets/links'))
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('mine')
    expect(await readFile(volume('deep', 'file'), 'utf8')).toBe('new')
  })

  test('fails with a message and does not change the container and its files', async () => {
    await storage.put('assets', 'good/file', 'good')
    await succeed(release('assets/good'))
    const { Id } = await testEnvironment.inspect('web')
    const getReason = async (order: Release) => {
      const { successful, previousRestored, reason } = await testEnvironment.server.deployAndWait(order)
      expect({ successful, previousRestored }).toEqual({ successful: false, previousRestored: true })
      return reason
    }
    expect(await getReason(release('nowhere'))).toBe(
      'importing nowhere/ into files: the storage has no bucket of that name',
    )
    expect(await getReason(release('assets/mistyped'))).toContain('the bucket has nothing under mistyped/')
    expect(await getReason(release('assets/good', { recreate: true, access: { secretKey: 'wrong' } }))).toContain(
      'refuses the secret key',
    )
    expect(
      await getReason(release('assets/good', { recreate: true, access: { url: 'http://169.254.169.254' } })),
    ).toContain('169.254.169.254 is not an address of a storage')
    expect(await readFile(volume('file'), 'utf8')).toBe('good')
    expect((await testEnvironment.inspect('web')).Id).toBe(Id)
    expect(
      JSON.stringify([...testEnvironment.server.events], (_, value) => (typeof value === 'bigint' ? '' : value)),
    ).not.toContain(storageAccount.secretKey)
  })

  test('refuses keys that lead out of the volume before it changes anything', async () => {
    const listing = (key: string) =>
      `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"x"</ETag><Size>1</Size></Contents></ListBucketResult>`
    let key = ''
    const server = createServer((_, response) => response.end(listing(key)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      await mkdir(volume(), { recursive: true })
      await writeFile(volume('kept'), 'kept')
      for (key of ['../../../evil', 'a/../../evil', '/etc/evil', 'a//b', '.', 'a/&#0;b']) {
        const { reason } = await testEnvironment.server.deployAndWait(
          release('bucket', { access: { url, accessKey: '', secretKey: '' } }),
        )
        expect(reason).toContain('which is not the name of a file')
      }
      expect(await readdir(volume())).toEqual(['kept'])
    } finally {
      server.close()
    }
  })

  test('ends with a cancellation and reports what it left in the volume', async () => {
    let asked = 0
    const server = createServer((request, response) => {
      if (request.url?.includes('list-type'))
        return response.end(
          `<ListBucketResult><IsTruncated>false</IsTruncated>${['a', 'b'].map((key) => `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>4</Size></Contents>`).join('')}</ListBucketResult>`,
        )
      asked += 1
      response.writeHead(200, { 'content-length': '4', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' })
      return request.url?.endsWith('/a') ? response.end('done') : response.write('do')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const order = release('bucket', { access: { url, accessKey: '', secretKey: '' } })
    try {
      testEnvironment.server.deploy(order)
      await waitUntil('both are asked for', () => asked === 2)
      await waitUntil('the first is there', async () =>
        (await readdir(volume()).catch((): string[] => [])).includes('a'),
      )
      testEnvironment.server.send({ case: 'cancelDeployment', value: order.key ? { release: order.key } : {} })
      expect(await testEnvironment.server.getOutcome(order)).toMatchObject({ successful: false, cancelled: true })
      expect(await readdir(volume())).toEqual(['a'])
      expect(testEnvironment.server.toLines(order)).toContain(
        'the volume files keeps the files that were brought into it: they are not put back',
      )
      expect(await testEnvironment.names()).toEqual([])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
