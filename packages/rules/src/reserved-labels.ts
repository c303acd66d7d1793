import type { ContainerConfigFields } from '@crux/contract'
import type { HostDanger, Report } from './config-problem.ts'

/**
 * Labels with which Crux, Compose and the system that Crux imports from identify containers. A container with a false label would be counted, stopped
 * or removed as that of another owner, so no role may set them.
 */
const reservedLabels = ['dev.crux', 'com.docker.compose', 'org.dyrectorio'] as const

/**
 * Labels of software that acts on any container of its engine. Such a label has an effect beyond the container: it routes host names, runs commands,
 * replaces containers, or makes requests from the node. docs/security.md has the same list.
 */
const obeyedLabels = [
  // Reverse proxies, tunnels and name servers: they route host names of other containers.
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
  // Schedulers and backups: they run commands in containers and on the node.
  'ofelia',
  'chadburn',
  'deck-chores',
  'docker-volume-backup',
  'restic-compose-backup',
  'nautical-backup',
  'sablier',
  'lazytainer',
  // Monitoring and dashboards: they make requests and read files that the label names.
  'com.datadoghq',
  'co.elastic',
  'homepage',
  'kuma',
  // Engines, orchestrators and consoles: their labels identify the owner of a container.
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

/** nginx-proxy and its companion read host names from the environment of every container. */
const obeyedVariables: ReadonlySet<string> = new Set(['VIRTUAL_HOST', 'VIRTUAL_HOST_MULTIPORTS', 'LETSENCRYPT_HOST'])

/** Whether no role may set the label; letter case is ignored. */
export const isReservedLabel = (key: string): boolean => reservedLabels.some((name) => startsWithName(key, name))

/** Whether other software on the node may act on the label. */
export const isObeyedLabel = (key: string): boolean => obeyedLabels.some((name) => startsWithName(key, name))

export const reservedLabelReason = (key: string): string =>
  `${key} is kept: labels that begin with ${reservedLabels.map((name) => `${name}.`).join(', ')} say whose a container is`

export function checkReservedLabels(config: ContainerConfigFields, report: Report): void {
  // A row that only removes the label of a weaker layer sets no label.
  for (const [index, { key, value }] of (config.dockerLabels ?? []).entries())
    if (value !== null && isReservedLabel(key))
      report(`dockerLabels[${index}].key`, 'reserved', reservedLabelReason(key))
}

/** Labels, and variables that are read like labels, with which other software on the node acts on a container. */
export function labelDangers({ dockerLabels, environment, secrets }: ContainerConfigFields): HostDanger[] {
  const labels = (dockerLabels ?? []).flatMap(({ key, value }, index) => {
    const reason = `Other software on the node may act on the label ${key}`
    if (value === null || !isObeyedLabel(key)) return []
    return [{ property: `dockerLabels[${index}].key`, value: `${key}=${value}`, reason }]
  })
  const variable = (property: string, key: string, value: string): HostDanger[] =>
    obeyedVariables.has(key)
      ? [{ property, value, reason: `A proxy on the node may route by the variable ${key}` }]
      : []
  return [
    ...labels,
    ...(environment ?? []).flatMap(({ key, value }, index) =>
      value === null ? [] : variable(`environment[${index}].key`, key, `${key}=${value}`),
    ),
    ...(secrets ?? []).flatMap(({ key }, index) => variable(`secrets[${index}].key`, key, key)),
  ]
}

/** `traefik`, `traefik.enable`, `caddy_0.reverse_proxy` and `co.elastic.logs/enabled`, but not `traefikish`. */
function startsWithName(key: string, name: string): boolean {
  const lower = key.trim().toLowerCase()
  return lower.startsWith(name) && !/[a-z0-9]/.test(lower.charAt(name.length))
}
