import { isLoopbackUrl } from '@crux/service-kit'
import type { Config } from '../config/config.ts'

export type InstallOptions = {
  rootPath?: string | null
  dagentTraefik?: { acmeEmail: string } | null
  workloadName?: string | null
}

/** Everything that a script is made of. All of it is text from people or settings, so all of it is quoted where it is used. */
export type ScriptValues = {
  url: string
  teamSlug: string
  nodeId: string
  nodeName: string
  token: string
  containerName: string
  rootPath: string | undefined
  acmeEmail: string | undefined
  /** Pulled instead of loading the image from this server. */
  agentImage: string | undefined
  /** Plain http to another machine: whoever runs the script must say that it is wanted. */
  plaintext: boolean
  /** Where a container in the virtual machine of Docker Desktop finds a server that listens on this machine's loopback. */
  desktopUrl: string | undefined
}

export const agentContainerName = 'crux-agent'
/** Pinned: a moving tag would put another program before people's services by itself. */
export const traefikImage = 'docker.io/library/traefik:v3.5.3'
/** The label by which a script knows a container that it may replace. */
export const agentLabel = { name: 'dev.crux.service-category', value: '_internal' } as const

export const scriptUrl = (values: Pick<ScriptValues, 'url' | 'teamSlug' | 'nodeId'>): string =>
  `${values.url}/api/${encodeURIComponent(values.teamSlug)}/nodes/${encodeURIComponent(values.nodeId)}/script`

export const imageUrl = (values: Pick<ScriptValues, 'url' | 'teamSlug' | 'nodeId'>): string =>
  `${values.url}/api/${encodeURIComponent(values.teamSlug)}/nodes/${encodeURIComponent(values.nodeId)}/agent-image`

export function scriptValues(
  config: Config,
  node: { id: string; name: string; teamSlug: string },
  token: string,
  options: InstallOptions,
): ScriptValues {
  return {
    url: config.url,
    teamSlug: node.teamSlug,
    nodeId: node.id,
    nodeName: node.name,
    token,
    containerName: options.workloadName || agentContainerName,
    rootPath: options.rootPath || undefined,
    acmeEmail: options.dagentTraefik?.acmeEmail,
    agentImage: config.agentImage,
    plaintext: config.url.startsWith('http:') && !isLoopbackUrl(config.url),
    desktopUrl: isLoopbackUrl(config.url) ? desktopUrlOf(config.url) : undefined,
  }
}

function desktopUrlOf(address: string): string {
  const url = new URL(address)
  url.hostname = 'host.docker.internal'
  return url.origin
}
