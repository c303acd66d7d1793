import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { silent, toKubeconfig } from '../../../../test/kit/cluster.ts'
import { openCluster } from '../client/open-cluster.ts'
import { openClusterState } from './cluster-state.ts'

/** Stores whatever is created, and answers with it. */
async function startStore() {
  const objects = new Map<string, Record<string, unknown>>()
  const changes: string[] = []
  let version = 0
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://api')
    let text = ''
    for await (const part of request) text += String(part)
    const body = text === '' ? {} : JSON.parse(text)
    const answer = (found: unknown) => response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? { code: 404 }))
    if (request.method === 'GET') return answer(objects.get(pathname))
    changes.push(`${request.method} ${pathname}`)
    const path = request.method === 'POST' ? `${pathname}/${body.metadata.name}` : pathname
    version += 1
    const metadata = { uid: randomUUID(), creationTimestamp: new Date().toISOString(), ...body.metadata }
    objects.set(path, {
      ...objects.get(path),
      ...body,
      metadata: { ...metadata, name: path.split('/').at(-1), resourceVersion: `${version}` },
    })
    answer(objects.get(path))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    changes,
    server: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

describe('a process that was suspended for longer than its lease', () => {
  let directory: string
  let store: Awaited<ReturnType<typeof startStore>>
  let kubeconfig: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crux-state-'))
    store = await startStore()
    kubeconfig = join(directory, 'kubeconfig')
    await writeFile(kubeconfig, toKubeconfig({ server: store.server, 'insecure-skip-tls-verify': true }, {}))
  })
  afterEach(async () => {
    await store.stop()
    await rm(directory, { recursive: true, force: true })
  })

  test('writes nothing when it continues, also before its timers have run', async () => {
    const state = await openClusterState({ kubeconfig, stateNamespace: 'crux-agent' }, silent)
    const leadership = await state.election.acquire(new AbortController().signal)
    if (!leadership) throw new Error('there is no other process')
    const cluster = await openCluster({ kubeconfig, log: silent, mayChange: () => leadership.isHeld() })
    const { records } = state.open(leadership.lost, leadership)
    await records.write('install-token', 'one')
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'shop' } } as const
    const before = store.changes.length
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + 11_000)
    expect(leadership.lost.aborted).toBe(false)
    const results = await Promise.allSettled([records.write('install-token', 'two'), cluster.create(manifest)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(store.changes.slice(before)).toEqual([])
    expect(leadership.lost.aborted).toBe(true)
    cluster.close()
    state.close()
  })
})
