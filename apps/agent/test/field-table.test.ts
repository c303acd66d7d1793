import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Release } from '@crux/agent-protocol'
import { containerConfigGroups } from '@crux/contract'
import { freePort, freePortRange, startStorage, storageAccount, storageMissing, type TestStorage } from '@crux/test-kit'
import { createMessage, encrypt, readKey } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commonRows } from './field-table/common-rows.ts'
import { dockerRows } from './field-table/docker-rows.ts'
import { type FieldRow, getFields, packRows, type Seen } from './field-table/row.ts'
import { startTestEnvironment, type TestEnvironment, webImage } from './kit/index.ts'

const withoutStorage = storageMissing()
const engineNetwork = `field-${randomUUID().slice(0, 8)}`
const networks = [`${engineNetwork}-team`, `engine:${engineNetwork}`]
let testEnvironment: TestEnvironment
let storage: TestStorage | undefined
let hostDirectory: string
let rows: FieldRow[]
let release: Release
let reason: string
const placeByField = new Map<FieldRow, string>()

beforeAll(async () => {
  ;[testEnvironment, storage] = await Promise.all([startTestEnvironment(), withoutStorage ? undefined : startStorage()])
  await testEnvironment.docker.createNetwork({ Name: engineNetwork })
  hostDirectory = await mkdtemp(join(tmpdir(), 'crux-host-'))
  const page = webImage('field')
  const field = { ...page, files: { ...page.files, '/www/ready.html': 'ready' } }
  const made = {
    field,
    user: { ...field, user: '7' },
    checked: { ...field, healthCheck: { test: ['CMD-SHELL', 'true'], intervalMs: 60_000 } },
    labelled: {
      ...field,
      labels: {
        'io.dyrector.cap.network.v1':
          '{"ports":[{"listening":8080,"exposed":true},{"listening":9000,"exposed":false}]}',
        'dev.crux.service-category': '_internal',
      },
    },
    tool: {},
    bare: { bare: true, files: { '/etc/app/app.conf': 'from the image' } },
  }
  const images = Object.fromEntries(
    await Promise.all(
      Object.entries(made).map(async ([name, image]) => [
        name,
        (await testEnvironment.publish(`${name}:1`, image)).reference,
      ]),
    ),
  ) as Record<keyof typeof made, string>
  const encryptionKeys = await readKey({ armoredKey: testEnvironment.server.links.at(-1)?.publicKey ?? '' })
  const kit = {
    images,
    networks,
    hostDirectory,
    routedHost: `${engineNetwork}.example.com`,
    ports: await Promise.all(Array.from({ length: 5 }, () => freePort())),
    range: (await freePortRange(3)).from,
    encrypt: async (text: string) => String(await encrypt({ message: await createMessage({ text }), encryptionKeys })),
  }
  rows = [...(await commonRows(kit)), ...dockerRows(kit), ...(storage ? [await storageRow(storage)] : [])]
  const packed = packRows(rows)
  packed.forEach((container, index) => {
    for (const row of container.rows) placeByField.set(row, `f${index}`)
  })
  release = testEnvironment.release({
    hostDangerousAllowed: true,
    instances: packed.map(({ config, image }, index) => ({
      instanceId: `f${index}`,
      image: image ?? images.field,
      ...(storage ? { storage: { url: storage.url, ...storageAccount } } : {}),
      config: { name: `f${index}`, ...config },
    })),
  })
  reason = (await testEnvironment.server.deployAndWait(release, 120_000)).reason
})

afterAll(async () => {
  await testEnvironment.dispose()
  await storage?.dispose()
  await rm(hostDirectory, { recursive: true, force: true })
  await testEnvironment.docker
    .getNetwork(engineNetwork)
    .remove()
    .catch(() => undefined)
})

async function storageRow(server: TestStorage): Promise<FieldRow> {
  await server.createBucket('assets')
  await server.put('assets', 'site/page.txt', 'from the storage')
  return {
    says: 'storage, whose files the container finds',
    config: {
      volumes: [{ name: 'files', path: '/files', type: 'ro' }],
      storage: { storageId: randomUUID(), bucket: 'assets/site', path: 'files' },
    },
    check: async ({ exec }) => expect((await exec('/bin/cat', '/files/page.txt')).trim()).toBe('from the storage'),
  }
}

async function look(short: string): Promise<Seen> {
  const events = release.key ? testEnvironment.server.listEvents(release.key) : []
  return {
    testEnvironment,
    short,
    info: await testEnvironment.inspect(short),
    reported: events.flatMap(({ event }) =>
      (event.case === 'phase' || event.case === 'log') && event.value.instanceId === short
        ? event.case === 'phase'
          ? [event.value.detail]
          : event.value.lines
        : [],
    ),
    exec: (...command) => testEnvironment.exec(short, command),
  }
}

describe('every field of a container configuration', () => {
  test('is deployed by one release', () => {
    expect(reason).toBe('')
  })

  test('appears in the engine as it was configured', async () => {
    const seen = new Map([...new Set(placeByField.values())].map((short) => [short, look(short)]))
    const results = await Promise.allSettled(
      rows.map(async (row) => {
        const found = await seen.get(placeByField.get(row) ?? '')
        if (found) await row.check(found)
      }),
    )
    const failures = results.flatMap((result, index) =>
      result.status === 'rejected' ? [`${rows[index]?.says}: ${String(result.reason)}`] : [],
    )
    expect(failures).toEqual([])
  })

  test('has a row in the table', () => {
    const covered = new Set<string>(['name', ...rows.flatMap(getFields)])
    const wanted = [...containerConfigGroups.common, ...containerConfigGroups.docker]
    expect(wanted.filter((field) => !covered.has(field) && !(field === 'storage' && withoutStorage))).toEqual([])
  })
})
