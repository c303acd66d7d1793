import type { ContainerConfigFields } from '@crux/contract'
import { type ConfigProblem, problem } from './config-problem.ts'
import type { HostDanger } from './host-danger.ts'

/**
 * Labels that say what a container is to Crux, to Compose and to the system that Crux imports from. A container with a false one
 * would be counted, stopped or removed as somebody else's, so nobody sets them.
 */
const reservedLabels = ['dev.crux', 'com.docker.compose', 'org.dyrectorio'] as const

/**
 * Software that acts on the labels of any container of its engine. A label that it obeys reaches beyond the container: it routes host
 * names, runs commands, replaces containers, or makes requests from the node. The list is docs/security.md's.
 */
const obeyedLabels = [
  // Reverse proxies, tunnels and name servers: host names of others.
  'traefik',
  'caddy',
  'coolify',
  'com.github.nginx-proxy',
  'com.github.jrcs',
  'swag',
  'proxy',
  'haproxy',
  'easyhaproxy',
  'tsdproxy',
  'dockflare',
  'cloudflare',
  'com.dnsdock',
  'external-dns',
  // Updaters: they replace containers outside of any release.
  'com.centurylinklabs',
  'diun',
  'wud',
  'com.ouroboros',
  'mag37.dockcheck',
  // Schedulers and backups: commands in containers and on the node.
  'ofelia',
  'chadburn',
  'deck-chores',
  'docker-volume-backup',
  'restic-compose-backup',
  'nautical-backup',
  'sablier',
  'lazytainer',
  // Monitoring and dashboards: requests and files that the label names.
  'com.datadoghq',
  'co.elastic',
  'homepage',
  'kuma',
  // Engines, orchestrators and consoles: whose a container is.
  'com.docker',
  'io.docker',
  'org.dockerproject',
  'io.podman',
  'io.containers',
  'io.kubernetes',
  'annotation.io.kubernetes',
  'io.rancher',
  'io.balena',
  'io.portainer',
  'cosmos',
  'komodo',
] as const

/** nginx-proxy and its companion read host names from the environment of every container instead. */
const obeyedVariables: ReadonlySet<string> = new Set(['VIRTUAL_HOST', 'VIRTUAL_HOST_MULTIPORTS', 'LETSENCRYPT_HOST'])

/** Whether nobody may set the label, in any case of letters. */
export const isReservedLabel = (key: string): boolean => reservedLabels.some((name) => startsWithName(key, name))

/** Whether other software on the node may act on the label. */
export const isObeyedLabel = (key: string): boolean => obeyedLabels.some((name) => startsWithName(key, name))

export const reservedLabelReason = (key: string): string =>
  `${key} is kept: labels that begin with ${reservedLabels.map((name) => `${name}.`).join(', ')} say whose a container is`

export function reservedLabelProblems(config: ContainerConfigFields): ConfigProblem[] {
  return (config.dockerLabels ?? []).flatMap(({ key, value }, index) =>
    // A row that only removes the label of a weaker layer sets nothing.
    value !== null && isReservedLabel(key)
      ? [problem(`dockerLabels[${index}].key`, 'reserved', reservedLabelReason(key))]
      : [],
  )
}

/** Labels, and variables that are read like labels, by which other software on the node acts for a container. */
export function labelDangers(config: ContainerConfigFields): HostDanger[] {
  const labels = (config.dockerLabels ?? []).flatMap(({ key, value }, index) =>
    value === null || !isObeyedLabel(key)
      ? []
      : [
          {
            property: `dockerLabels[${index}].key`,
            value: `${key}=${value}`,
            reason: `Other software on the node may act on the label ${key}`,
          },
        ],
  )
  const variables = (['environment', 'secrets'] as const).flatMap((field) =>
    (config[field] ?? []).flatMap(({ key, value }, index) => {
      if ((field === 'environment' && value === null) || !obeyedVariables.has(key)) return []
      return [
        {
          property: `${field}[${index}].key`,
          value: field === 'environment' ? `${key}=${value}` : key,
          reason: `A proxy on the node may route by the variable ${key}`,
        },
      ]
    }),
  )
  return [...labels, ...variables]
}

/** `traefik`, `traefik.enable`, `caddy_0.reverse_proxy` and `co.elastic.logs/enabled`, but not `traefikish`. */
function startsWithName(key: string, name: string): boolean {
  const lower = key.trim().toLowerCase()
  return lower.startsWith(name) && !/[a-z0-9]/.test(lower.charAt(name.length))
}
