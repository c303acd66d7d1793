import type { RequestOptions } from 'node:https'
import { errorCode } from '@crux/service-kit'
import type { Access } from './api.ts'
import { KubeconfigError } from './api-error.ts'

/**
 * Reads a kubeconfig, or the service account of the agent's own pod. The library is loaded here and only now: it would cost an agent on Docker
 * 50 MB of memory.
 *
 * @throws KubeconfigError
 */
export async function openAccess(kubeconfig: string | undefined): Promise<Access> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js')
  const config = new KubeConfig()
  const source = kubeconfig === undefined ? "the pod's service account" : `the kubeconfig ${kubeconfig}`
  try {
    if (kubeconfig === undefined) config.loadFromCluster()
    else config.loadFromFile(kubeconfig)
  } catch (error) {
    throw new KubeconfigError(`${source} cannot be read${describeCode(error)}`)
  }
  const cluster = config.getCurrentCluster()
  if (!cluster || !URL.canParse(cluster.server))
    throw new KubeconfigError(`${source} names no cluster with an address in its current context`)
  return {
    server: new URL(cluster.server),
    async authorize() {
      const options: RequestOptions = {}
      try {
        await config.applyToHTTPSOptions(options)
      } catch (error) {
        throw new KubeconfigError(`${source} yields no credentials${describeCode(error)}`)
      }
      // The library's agent opens a connection for each request; only it knows the way through a proxy.
      if (!cluster.proxyUrl) delete options.agent
      return options
    },
  }
}

function describeCode(error: unknown): string {
  const code = errorCode(error)
  return code === '' ? '' : ` (${code})`
}
