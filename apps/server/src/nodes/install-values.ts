import { isLoopbackUrl } from '@crux/service-kit'
import { serverVersion } from '../agent-links/index.ts'
import type { Config } from '../config/index.ts'
import type { InstallOptions } from '../db/schema/nodes.ts'

/** All values of a script. They are text from people or settings, so each is quoted where it is used. */
export type ScriptValues = ReturnType<typeof scriptValues>

export const agentContainerName = 'crux-agent'
/** Pinned: a moving tag would put another program in front of users' services without their decision. */
export const traefikImage = 'docker.io/library/traefik:v3.5.3'
/** The name that the agent's image has once it is loaded. */
const loadedAgentImage = `crux/agent:${serverVersion}-${process.arch === 'x64' ? 'amd64' : process.arch}`
/** The label that marks a container that a script may replace. */
export const agentLabel = { name: 'dev.crux.service-category', value: '_internal' } as const

type NodeAddress = { url: string; teamSlug: string; nodeId: string }
const nodeUrl = ({ url, teamSlug, nodeId }: NodeAddress): string =>
  `${url}/api/${encodeURIComponent(teamSlug)}/nodes/${encodeURIComponent(nodeId)}`
export const scriptUrl = (node: NodeAddress): string => `${nodeUrl(node)}/script`

export const imageUrl = (node: NodeAddress): string => `${nodeUrl(node)}/agent-image`

export function scriptValues(
  config: Config,
  node: { id: string; name: string; teamSlug: string },
  token: string,
  options: InstallOptions,
) {
  return {
    url: config.url,
    teamSlug: node.teamSlug,
    nodeId: node.id,
    nodeName: node.name,
    token,
    containerName: options.workloadName || agentContainerName,
    rootPath: options.rootPath || undefined,
    acmeEmail: options.dagentTraefik?.acmeEmail,
    /** The image to pull, instead of loading it from this server. */
    agentImage: config.agentImage,
    /** True for plain http to another machine: users who run the script must allow it explicitly. */
    plaintext: config.url.startsWith('http:') && !isLoopbackUrl(config.url),
    /** The address at which a container in Docker Desktop's virtual machine reaches a server on this machine's loopback. */
    desktopUrl: isLoopbackUrl(config.url) ? toDesktopUrl(config.url) : undefined,
  }
}

/** The values of the script and the manifest for a cluster. */
export type ClusterValues = ReturnType<typeof clusterValues>

export function clusterValues(
  config: Config,
  node: { id: string; name: string; teamSlug: string },
  { token, install }: { token: string; install: { tokenHash: string; options: InstallOptions } },
) {
  const { workloadName, namespaces } = install.options
  return {
    url: config.url,
    teamSlug: node.teamSlug,
    nodeId: node.id,
    nodeName: node.name,
    token,
    /** One for each node: the agents of two nodes on one cluster have nothing in common. */
    agentNamespace: workloadName || `${agentContainerName}-${node.id.slice(-8)}`,
    /** Empty: the agent makes a namespace for each prefix. */
    namespaces: namespaces ?? [],
    image: config.agentImage ?? loadedAgentImage,
    /** False: the owner of the cluster loads the image on its nodes. */
    imageIsPulled: config.agentImage !== undefined,
    /** Another one for each install script, so that a pod of an earlier one is replaced. */
    installId: install.tokenHash.slice(0, 16),
    /** True for plain http to another machine: users who run the script must allow it explicitly. */
    plaintext: config.url.startsWith('http:') && !isLoopbackUrl(config.url),
    /** True: pods do not reach the server, since its address is for its own machine only. */
    loopback: isLoopbackUrl(config.url),
  }
}

function toDesktopUrl(address: string): string {
  const url = new URL(address)
  url.hostname = 'host.docker.internal'
  return url.origin
}
