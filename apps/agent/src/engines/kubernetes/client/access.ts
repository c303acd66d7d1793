import type { RequestOptions } from 'node:https'
import { errorCode } from '@crux/service-kit'
import type { Access } from './api.ts'
import { KubeconfigError, NoAnswerError } from './api-error.ts'

/**
 * Reads a kubeconfig, or the service account of the agent's own pod. The library is loaded here and only now: it would cost an agent on Docker
 * 50 MB of memory.
 *
 * @throws KubeconfigError; `authorize` also a NoAnswerError
 */
export async function openAccess(kubeconfig: string | undefined): Promise<Access> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js')
  const source = kubeconfig === undefined ? "the pod's service account" : `the kubeconfig ${kubeconfig}`
  function load() {
    const config = new KubeConfig()
    try {
      if (kubeconfig === undefined) config.loadFromCluster()
      else config.loadFromFile(kubeconfig)
    } catch (error) {
      throw new KubeconfigError(`${source} cannot be read${describeCode(error)}`)
    }
    const cluster = config.getCurrentCluster()
    if (!cluster || !URL.canParse(cluster.server))
      throw new KubeconfigError(`${source} names no cluster with an address in its current context`)
    return { config, cluster }
  }
  let loaded = load()
  let reading: Promise<RequestOptions> | undefined
  const issuedBy = new WeakMap<RequestOptions, typeof loaded>()
  async function read(): Promise<RequestOptions> {
    const current = loaded
    const options: RequestOptions = {}
    try {
      await current.config.applyToHTTPSOptions(options)
    } catch (error) {
      // A program that is there and fails may be cut off itself, and succeed when it runs again.
      if (errorCode(error) === '') throw new NoAnswerError(`${source} yields no credentials`)
      throw new KubeconfigError(`${source} yields no credentials${describeCode(error)}`)
    }
    // The library's agent opens a connection for each request; only it knows the way through a proxy.
    if (!current.cluster.proxyUrl) delete options.agent
    issuedBy.set(options, current)
    return options
  }
  function renew(): void {
    try {
      loaded = load()
      reading = undefined
    } catch {
      // A file that is just being written: the next refusal reads it again.
    }
  }
  return {
    server: new URL(loaded.cluster.server),
    authorize(refused) {
      // The library keeps what a file or a plugin has yielded. Of several requests that were refused, the first one reads it again.
      if (refused && issuedBy.get(refused) === loaded) renew()
      // A plugin is a program, which runs once for all requests that wait for it.
      reading ??= read().finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}

function describeCode(error: unknown): string {
  const code = errorCode(error)
  return code === '' ? '' : ` (${code})`
}
