import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { kubernetesMissing, leadToLoopback, startOwnKubernetes } from '@crux/test-kit'
import { test } from '@playwright/test'
import { makeCertificate } from './certificate.ts'

const run = promisify(execFile)

/** Called by files whose tests start a cluster. They are skipped with a reason where none can be started. */
export function needsKubernetes(): void {
  const missing = kubernetesMissing()
  test.skip(missing !== undefined, missing ?? '')
}

export type TestCluster = Awaited<ReturnType<typeof startCluster>>

/** A real cluster, whose pods reach services of this machine over TLS with a certificate of an authority of its own. */
export async function startCluster() {
  const kubernetes = await startOwnKubernetes()
  const { gateway, kubectl, kubeconfig } = kubernetes
  const directory = await mkdtemp(join(tmpdir(), 'crux-cluster-'))
  makeCertificate(directory, { subject: gateway, names: `IP:${gateway}` })
  const caFile = join(directory, 'ca.pem')
  const closing: (() => void)[] = []
  return {
    ...kubernetes,
    caFile,
    /**
     * Leads a port of the cluster's gateway to a port of this machine's loopback.
     *
     * @param protocols that the program there speaks
     * @returns host and port for pods
     */
    async reach(port: number, protocols: readonly ('h2' | 'http/1.1')[]): Promise<string> {
      const options = { key: readFileSync(join(directory, 'key.pem')), cert: readFileSync(join(directory, 'cert.pem')) }
      const server = createServer({ ...options, ALPNProtocols: [...protocols] }, leadToLoopback(port))
      await new Promise<void>((resolve) => server.listen(0, gateway, resolve))
      closing.push(() => server.close())
      return `${gateway}:${(server.address() as AddressInfo).port}`
    },
    /** Runs a line of the console in a shell, as the owner of the cluster. */
    async runInShell(line: string, variables: Record<string, string>): Promise<string> {
      const env = { ...process.env, KUBECTL: kubectl, KUBECONFIG: kubeconfig, CRUX_CA_FILE: caFile, ...variables }
      const { stdout } = await run('sh', ['-c', line], { env })
      return stdout
    },
    async end(): Promise<void> {
      for (const close of closing) close()
      await kubernetes.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
