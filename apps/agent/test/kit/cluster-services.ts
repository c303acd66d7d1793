import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer as createTcpServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { type KubernetesMachine, leadToLoopback } from '@crux/test-kit'
import { buildAgentImage } from '../../scripts/build-image.ts'

/** Builds the agent's image and loads it on the machine of the cluster. @returns its name there */
export async function loadAgentImage({ load }: KubernetesMachine): Promise<string> {
  const dist = await mkdtemp(join(tmpdir(), 'crux-agent-image-'))
  try {
    const { path, reference } = await buildAgentImage(dist)
    await load(path)
    return reference
  } finally {
    await rm(dist, { recursive: true, force: true })
  }
}

/** Leads addresses that pods reach to services on this machine's loopback. */
export async function openClusterServices({ gateway }: Pick<KubernetesMachine, 'gateway'>) {
  const directory = await mkdtemp(join(tmpdir(), 'crux-cluster-services-'))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
  openssl('req', '-x509', ...key, '-subj', '/CN=Authority of a test', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl(
    ...['req', '-x509', ...key, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-subj', `/CN=${gateway}`],
    ...['-addext', `subjectAltName=IP:${gateway}`, '-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-keyout', 'key.pem', '-out', 'cert.pem'],
  )
  const [cert, privateKey] = await Promise.all(['cert.pem', 'key.pem'].map((name) => readFile(join(directory, name))))
  const servers: Server[] = []
  const listen = async (server: Server) => {
    await new Promise<void>((resolve) => server.listen(0, gateway, resolve))
    servers.push(server)
    const address = server.address()
    return `${gateway}:${typeof address === 'object' ? address?.port : ''}`
  }
  return {
    authorityFile: join(directory, 'ca.pem'),
    /** @returns host and port for pods, with a certificate of the authority */
    reachByTls: (port: number) => listen(createTlsServer({ cert, key: privateKey }, leadToLoopback(port))),
    reach: (port: number) => listen(createTcpServer(leadToLoopback(port))),
    async close() {
      for (const server of servers) server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
