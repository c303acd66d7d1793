import { resolve } from 'node:path'
import { ConfigError, isLoopbackUrl, type LogLevel, logLevels, parseConfig } from '@crux/service-kit'
import { z } from 'zod'

const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')

const namespace = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'is no name of a namespace')

const Environment = z.object({
  CRUX_URL: z.url({ protocol: /^https?$/ }).meta({ example: 'https://crux.example.com' }),
  CRUX_NODE_ID: z.string().default('').meta({ example: '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e' }),
  CRUX_TOKEN: z.string().startsWith('crux_').optional().meta({ example: 'crux_...' }),
  CRUX_DATA_DIR: z.string().startsWith('/').default('/srv/crux').meta({ example: '/srv/crux' }),
  DATA_MOUNT_PATH: z.string().startsWith('/').optional().meta({ example: '/srv/crux' }),
  DOCKER_HOST: z
    .string()
    .regex(/^(unix|tcp):\/\/\S+$/, 'starts with unix:// or tcp://')
    .optional()
    .meta({ example: 'unix:///var/run/docker.sock' }),
  CRUX_ENGINE: z.enum(['docker', 'kubernetes']).optional().meta({ example: 'kubernetes' }),
  CRUX_KUBECONFIG: z.string().startsWith('/').optional().meta({ example: '/etc/crux/kubeconfig' }),
  CRUX_STATE_NAMESPACE: namespace.optional().meta({ example: 'crux-agent' }),
  CRUX_NAMESPACES: z
    .string()
    .transform((list) => list.split(',').map((name) => name.trim()))
    .pipe(z.array(namespace).min(1))
    .optional()
    .meta({ example: 'shop,shop-staging' }),
  CRUX_AGENT_IMAGE_IN_CLUSTER: z
    .string()
    .regex(/^\S+$/)
    .optional()
    .meta({ example: 'registry.example.com/crux/agent:1.0.0' }),
  NODE_EXTRA_CA_CERTS: z.string().optional().meta({ example: '/etc/crux/authority/ca.pem' }),
  CRUX_INSECURE: flag.meta({ example: 'true' }),
  ROOT_DOMAIN: z.string().optional().meta({ example: 'apps.example.com' }),
  CRUX_UPDATE_ID: z.string().default('').meta({ example: '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e' }),
  LOG_LEVEL: z.enum(logLevels).default('info').meta({ example: 'info' }),
})

export interface ClusterAccess {
  /** Path of the file; undefined for the service account of the agent's own pod. */
  kubeconfig: string | undefined
  /** The namespace of the agent's own objects; undefined for that of its pod, and with a kubeconfig for the data directory instead. */
  stateNamespace: string | undefined
  /** The only namespaces that the agent reads and changes; undefined for the whole cluster. */
  namespaces: readonly string[] | undefined
  /** The agent's own image; undefined for that of its pod. */
  agentImage: string | undefined
  /** Path of the certificates that are trusted besides the usual ones. */
  authorityFile: string | undefined
}

export interface AgentSettings {
  /** Origin of the server, without a path. */
  server: string
  /** Empty when only the token names the node; the server then sends its id. */
  nodeId: string
  /** Install or connection token. */
  token: string | undefined
  /** Directory of the agent's files. */
  dataDir: string
  /** The same directory as the engine's host sees it. */
  dataMountPath: string
  /** Address of the Docker engine. */
  dockerHost: string
  /** Set when the agent serves a cluster. */
  cluster: ClusterAccess | undefined
  /** Whether plaintext to another machine is allowed. */
  insecure: boolean
  rootDomain: string | undefined
  logLevel: LogLevel
  /** The update that created this container; empty in a container of another origin. It stays the same after the update. */
  updateId: string
}

/** @throws ConfigError that names the variable */
export function readSettings(env: NodeJS.ProcessEnv): AgentSettings {
  const given = parseConfig(Environment, env)
  const server = new URL(given.CRUX_URL).origin
  if (server.startsWith('http:') && !isLoopbackUrl(server) && !given.CRUX_INSECURE) {
    throw new ConfigError(
      'CRUX_URL',
      'would send the token in plain text to another machine; use https, or set CRUX_INSECURE=true',
      'https://crux.example.com',
    )
  }
  if (given.CRUX_KUBECONFIG && given.CRUX_ENGINE === 'docker')
    throw new ConfigError('CRUX_KUBECONFIG', 'is for a cluster, but CRUX_ENGINE is docker; remove one of them', '')
  const isCluster = given.CRUX_ENGINE === 'kubernetes' || given.CRUX_KUBECONFIG !== undefined
  const dataDir = resolve(given.CRUX_DATA_DIR)
  return {
    server,
    nodeId: given.CRUX_NODE_ID,
    token: given.CRUX_TOKEN,
    dataDir,
    dataMountPath: resolve(given.DATA_MOUNT_PATH ?? dataDir),
    dockerHost: given.DOCKER_HOST ?? 'unix:///var/run/docker.sock',
    cluster: isCluster
      ? {
          kubeconfig: given.CRUX_KUBECONFIG,
          stateNamespace: given.CRUX_STATE_NAMESPACE,
          namespaces: given.CRUX_NAMESPACES && [...new Set(given.CRUX_NAMESPACES)],
          agentImage: given.CRUX_AGENT_IMAGE_IN_CLUSTER,
          authorityFile: given.NODE_EXTRA_CA_CERTS || undefined,
        }
      : undefined,
    insecure: given.CRUX_INSECURE,
    rootDomain: given.ROOT_DOMAIN,
    logLevel: given.LOG_LEVEL,
    updateId: given.CRUX_UPDATE_ID,
  }
}
