import type { Release } from '@crux/agent-protocol'

/** What the cluster of a node offers to deployments. The node's operator decides it, never a configuration. */
export interface ClusterSettings {
  /** How routes reach containers; absent where the cluster has no ingress controller for them. */
  ingress?: {
    /** Name of the ingress class. */
    className: string
    /** The domain of containers that name none. */
    rootDomain?: string
    /** The issuer of cert-manager that makes certificates; without one, the controller uses its own. */
    clusterIssuer?: string
    /** The address of Crux, whose host name no container may take. */
    serverUrl?: string
  }
  /** Whether the operator of Prometheus is installed, and reads the ServiceMonitors of every namespace. */
  hasServiceMonitors?: boolean
  /** Storage classes that every member may use. */
  storageClasses?: readonly string[]
}

/** The settings of the node that come with a release, completed by those of the agent and by what the cluster has. */
export function toClusterSettings(
  { cluster }: Pick<Release, 'cluster'>,
  agent: { rootDomain: string | undefined; serverUrl: string; hasServiceMonitors: boolean },
): ClusterSettings {
  const { certificateIssuer = '', ingressClass = '', storageClasses = [] } = cluster ?? {}
  const { hasServiceMonitors, rootDomain, serverUrl } = agent
  return {
    ...(ingressClass !== '' && {
      ingress: {
        className: ingressClass,
        ...(rootDomain && { rootDomain }),
        ...(certificateIssuer !== '' && { clusterIssuer: certificateIssuer }),
        serverUrl,
      },
    }),
    hasServiceMonitors,
    storageClasses,
  }
}
