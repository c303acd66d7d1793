import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAccess } from '../src/engines/kubernetes/client/access.ts'
import { Api } from '../src/engines/kubernetes/client/api.ts'
import { openCluster } from '../src/engines/kubernetes/client/open-cluster.ts'
import { openTestCluster, silent, type TestCluster, toKubeconfig } from './kit/cluster.ts'
import { createAccount } from './kit/cluster-accounts.ts'

const missing = kubernetesMissing()
const list = { apiGroup: '', resources: ['configmaps'], verbs: ['list'], reason: 'the test' }

describe.skipIf(missing)('a kubeconfig', () => {
  let testCluster: TestCluster
  let directory: string
  let namespace: string
  let token: string
  let server: URL
  let authority: string
  const closing: (() => void)[] = []
  beforeAll(async () => {
    testCluster = await openTestCluster()
    directory = await mkdtemp(join(tmpdir(), 'crux-kubeconfigs-'))
    namespace = await testCluster.createNamespace()
    const account = await createAccount(testCluster, namespace, { namespaces: { [namespace]: [list] } })
    const given = await (await openAccess(account.kubeconfig)).authorize()
    token = String(Object(given.headers).Authorization).replace('Bearer ', '')
    server = (await openAccess(testCluster.kubeconfig)).server
    authority = Buffer.from(String(given.ca)).toString('base64')
  })
  afterAll(async () => {
    for (const close of closing) close()
    await testCluster?.dispose()
    if (directory) await rm(directory, { recursive: true, force: true })
  })

  async function write(content: string): Promise<string> {
    const path = join(directory, randomUUID())
    await writeFile(path, content)
    return path
  }
  const withUser = (user: Record<string, unknown>, cluster: Record<string, unknown> = {}) =>
    toKubeconfig({ server: server.href, 'certificate-authority-data': authority, ...cluster }, user)
  async function open(kubeconfig: string) {
    const cluster = await openCluster({ kubeconfig, log: silent })
    closing.push(() => cluster.close())
    return () => cluster.list('ConfigMap', { namespace })
  }
  async function listen(given: Server, host: string): Promise<number> {
    await new Promise<void>((resolve) => given.listen(0, host, resolve))
    closing.push(() => given.close())
    const address = given.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }
  /** A program that prints the token in a file, as a credential that does not expire. */
  async function writePlugin() {
    const tokenFile = await write('')
    const script = `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$(cat ${tokenFile})"`
    const user = {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'sh',
        args: ['-c', script],
        interactiveMode: 'Never',
      },
    }
    return { user, tokenFile }
  }

  test('has a plugin, which runs again when the cluster does not accept its token any more', async () => {
    const { tokenFile, user } = await writePlugin()
    const listConfig = await open(await write(withUser(user)))
    await writeFile(tokenFile, 'replaced')
    await expect(listConfig()).rejects.toThrow('does not accept')
    await writeFile(tokenFile, token)
    expect((await listConfig()).objects.map(({ name }) => name)).toContain('kube-root-ca.crt')
  })

  test('is read again when the cluster does not accept its token any more', async () => {
    const kubeconfig = await write(withUser({ token: 'replaced' }))
    const listConfig = await open(kubeconfig)
    await expect(listConfig()).rejects.toThrow('does not accept')
    await writeFile(kubeconfig, withUser({ token }))
    expect((await listConfig()).objects).not.toEqual([])
  })

  test("names the file of a token, as the pod's service account does, which is read when the token is not accepted", async () => {
    const tokenFile = await write('replaced')
    const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } }
    const listConfig = await open(await write(withUser(user)))
    await expect(listConfig()).rejects.toThrow('does not accept')
    await writeFile(tokenFile, token)
    expect((await listConfig()).objects).not.toEqual([])
  })

  test('has a plugin that fails for a moment: the cluster counts as unavailable, and nothing of its words is repeated', async () => {
    const { tokenFile, user } = await writePlugin()
    await rm(tokenFile)
    const [flag, script] = user.exec.args
    const failing = {
      exec: { ...user.exec, args: [flag, `[ -e ${tokenFile} ] || { echo private >&2; exit 1; }; ${script}`] },
    }
    const listConfig = await open(await write(withUser(failing)))
    const error = await listConfig().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('yields no credentials') })
    expect(inspect(error)).not.toContain('private')
    await writeFile(tokenFile, token)
    expect((await listConfig()).objects).not.toEqual([])
  })

  test('has a plugin that is not there: it cannot be used', async () => {
    const user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: join(directory, 'none'), args: [] } }
    const listConfig = await open(await write(withUser(user)))
    await expect(listConfig()).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('ENOENT') })
  })

  test('has a plugin that does not end: a request fails in its time', async () => {
    const user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sleep', args: ['20'] } }
    const api = new Api(await openAccess(await write(withUser(user))))
    closing.push(() => api.close())
    await expect(api.json({ path: '/version' }, 300)).rejects.toThrow('no credentials within')
  })

  test('leads through a proxy', async () => {
    const targets: string[] = []
    const proxy = createServer().on('connect', (request, client) => {
      targets.push(request.url ?? '')
      const upstream = connect(Number(server.port), server.hostname, () => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        client.pipe(upstream).pipe(client)
      })
      for (const socket of [client, upstream]) socket.on('error', () => undefined)
    })
    const port = await listen(proxy, '127.0.0.1')
    const listConfig = await open(await write(withUser({ token }, { 'proxy-url': `http://127.0.0.1:${port}` })))
    expect((await listConfig()).objects).not.toEqual([])
    await listConfig()
    expect(new Set(targets)).toEqual(new Set([server.host]))
  })

  test('names an address of IPv6, and the name in the certificate of the server', async () => {
    const forward = createTcpServer((client) => {
      const upstream = connect(Number(server.port), server.hostname)
      client.pipe(upstream).pipe(client)
      for (const socket of [client, upstream]) socket.on('error', () => undefined)
    })
    const port = await listen(forward, '::1')
    const cluster = { server: `https://[::1]:${port}`, 'tls-server-name': 'kubernetes' }
    const listConfig = await open(await write(withUser({ token }, cluster)))
    expect((await listConfig()).objects).not.toEqual([])
  })
})
