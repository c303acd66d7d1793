import type { ContainerConfigFields, NodeCluster, NodeType } from '@crux/contract'
import { markerSections } from './config-parts.ts'
import type { HostDanger } from './config-problem.ts'
import { hostDangers } from './host-dangerous.ts'

type Row = { key: string; value: string | null }
type MarkerSection = (typeof markerSections)[number]

const nginx = 'nginx.ingress.kubernetes.io/'

/**
 * Annotations with a slash or a dot in their names that any member may set, and why each is harmless. Other software of a cluster reads
 * annotations, so one is dangerous until it is listed here.
 */
const allowedAnnotations: Readonly<Record<MarkerSection, Readonly<Record<string, string>>>> = {
  deployment: {
    'kubernetes.io/change-cause': 'Shown to people in the history of a rollout',
    'kubernetes.io/description': 'Shown to people',
    'kubectl.kubernetes.io/default-container': 'Names the container of the pod that kubectl shows first',
  },
  service: { 'kubernetes.io/description': 'Shown to people' },
  ingress: {
    'kubernetes.io/description': 'Shown to people',
    [`${nginx}proxy-body-size`]: 'A size, for requests to this container alone',
    [`${nginx}proxy-connect-timeout`]: 'A number of seconds, for requests to this container alone',
    [`${nginx}proxy-read-timeout`]: 'A number of seconds, for requests to this container alone',
    [`${nginx}proxy-send-timeout`]: 'A number of seconds, for requests to this container alone',
    [`${nginx}limit-connections`]: 'A number that limits the requests to this container',
    [`${nginx}limit-rps`]: 'A number that limits the requests to this container',
    [`${nginx}limit-rpm`]: 'A number that limits the requests to this container',
    [`${nginx}ssl-redirect`]: 'Redirects requests for this container to its own secure address',
    [`${nginx}force-ssl-redirect`]: 'Redirects requests for this container to its own secure address',
  },
}

/** Why some annotations are refused, for users. The first prefix that fits gives the reason; all others are refused without one of their own. */
const refusedAnnotations: readonly (readonly [prefix: string, reason: string])[] = [
  [`${nginx}auth-`, 'makes the ingress controller send requests to an address, or read a Secret'],
  [
    `${nginx}configuration-snippet`,
    'adds text to the configuration of the ingress controller, which holds every Secret',
  ],
  [`${nginx}server-snippet`, 'adds text to the configuration of the ingress controller, which holds every Secret'],
  [`${nginx}stream-snippet`, 'adds text to the configuration of the ingress controller, which holds every Secret'],
  [nginx, 'changes how the ingress controller, which all teams share, routes requests'],
  ['nginx.org/', 'changes the configuration of the ingress controller, which all teams share'],
  ['cni.projectcalico.org/', 'gives the pod addresses or networks of the node'],
  ['k8s.v1.cni.cncf.io/', 'attaches the pod to networks of the node'],
  ['v1.multus-cni.io/', 'attaches the pod to networks of the node'],
  ['kubernetes.io/ingress-bandwidth', 'changes the network of the node'],
  ['kubernetes.io/egress-bandwidth', 'changes the network of the node'],
  ['iam.amazonaws.com/', 'gives the pod a role in the account of the cloud'],
  ['eks.amazonaws.com/', 'gives the pod a role in the account of the cloud'],
  ['iam.gke.io/', 'gives the pod a role in the account of the cloud'],
  ['azure.workload.identity/', 'gives the pod a role in the account of the cloud'],
  ['container.apparmor.security.beta.kubernetes.io/', 'changes the AppArmor profile that confines the container'],
  ['container.seccomp.security.alpha.kubernetes.io/', 'changes the seccomp profile that confines the container'],
  ['seccomp.security.alpha.kubernetes.io/', 'changes the seccomp profile that confines the container'],
  ['external-dns.alpha.kubernetes.io/', 'creates names in the DNS zones of the cluster'],
  ['service.beta.kubernetes.io/', 'configures a load balancer in the account of the cloud'],
  ['metallb.universe.tf/', 'takes addresses of the load balancer, which all teams share'],
  ['metallb.io/', 'takes addresses of the load balancer, which all teams share'],
  ['cert-manager.io/', 'requests certificates from an issuer of the cluster'],
  ['prometheus.io/', 'makes Prometheus send requests from its own place in the network'],
  // Container runtimes pass annotations of a pod on, or read them, without a slash in their names.
  ['org.systemd.property.', 'sets properties of systemd on the machine'],
  ['io.kubernetes.cri-o.', 'changes what the container runtime gives the pod of its machine'],
  ['io.katacontainers.', 'changes the virtual machine that confines the pod'],
]

/** Labels without a domain on which known software acts, and what it does with a pod that has one. */
const refusedPodLabels: Readonly<Record<string, string>> = {
  aadpodidbinding: 'gives the pod a role in the account of the cloud',
}

/** Values are numbers, sizes, words and sentences: nothing that a controller could take for syntax of its own configuration. */
const plainValue = /^[A-Za-z0-9 .,:_/-]*$/

/**
 * Whether any member may set the annotation. Without a slash or a dot it is a note of the team, on which no known software acts; names with dots
 * alone are those of container runtimes.
 */
export function isAllowedAnnotation(section: MarkerSection, key: string): boolean {
  return !/[./]/.test(key) || Object.hasOwn(allowedAnnotations[section], key)
}

/** Why only an admin may set the label; undefined for one that any member may set. */
function getLabelRefusal(section: MarkerSection, key: string): string | undefined {
  if (key.includes('/')) return actedOn('label', key)
  return section === 'deployment' && Object.hasOwn(refusedPodLabels, key)
    ? `The label ${key} ${refusedPodLabels[key]}`
    : undefined
}

/**
 * Settings of a Kubernetes node that only an admin may confirm: they reach the cluster, its controllers or the account of its cloud. They do
 * nothing on a Docker node, so `hostDangers` does not judge them.
 *
 * @param node.storageClasses the classes that every member may use; a claim without a class gets the default one of the cluster
 */
export function kubernetesDangers(
  config: ContainerConfigFields,
  { storageClasses }: { storageClasses: readonly string[] },
): HostDanger[] {
  const { annotations, extraLBAnnotations, labels, useLoadBalancer, volumes } = config
  const found: HostDanger[] = []
  const add = (property: string, value: string, reason: string) => void found.push({ property, value, reason })
  for (const section of markerSections) {
    for (const [index, { key, value }] of setRows(labels?.[section])) {
      const reason = getLabelRefusal(section, key)
      if (reason !== undefined) add(`labels.${section}[${index}].key`, `${key}=${value}`, reason)
    }
    for (const [index, { key, value }] of setRows(annotations?.[section])) {
      const at = `annotations.${section}[${index}]`
      if (!isAllowedAnnotation(section, key)) add(`${at}.key`, `${key}=${value}`, getRefusal(key))
      else if (key.includes('/') && !plainValue.test(value ?? ''))
        add(
          `${at}.value`,
          value ?? '',
          `The value of ${key} has characters that a controller may take for its own syntax`,
        )
    }
  }
  if (useLoadBalancer)
    add(
      'useLoadBalancer',
      'true',
      'A load balancer makes the container public, and is paid by the account of the cluster',
    )
  // Without a load balancer, nothing has its annotations.
  for (const [index, { key, value }] of setRows(useLoadBalancer ? extraLBAnnotations : []))
    add(`extraLBAnnotations[${index}].key`, `${key}=${value}`, getRefusal(key))
  for (const [index, { class: storageClass, type }] of (volumes ?? []).entries())
    if (storageClass && type !== 'mem' && type !== 'tmp' && !storageClasses.includes(storageClass))
      add(
        `volumes[${index}].class`,
        storageClass,
        `The storage class ${storageClass} is none that the node offers to its teams`,
      )
  return found
}

/**
 * All settings of a configuration that only an admin may confirm for a node.
 *
 * @param node.cluster the settings of a Kubernetes node; null while nobody saved any
 */
export const nodeDangers = (
  config: ContainerConfigFields,
  { cluster, type }: { type: NodeType; cluster: Pick<NodeCluster, 'storageClasses'> | null },
): HostDanger[] => [
  ...hostDangers(config),
  ...(type === 'k8s' ? kubernetesDangers(config, { storageClasses: cluster?.storageClasses ?? [] }) : []),
]

/** A row with `null` only removes the one of a weaker layer. */
const setRows = (rows: readonly Row[] | null | undefined): [number, Row][] =>
  [...(rows ?? []).entries()].filter(([, { value }]) => value !== null)

const actedOn = (kind: 'label' | 'annotation', key: string) =>
  `Other software of the cluster may act on the ${kind} ${key}`

/** The API ignores the case of letters in the domain. */
function getRefusal(key: string): string {
  const [, reason] = refusedAnnotations.find(([prefix]) => key.toLowerCase().startsWith(prefix)) ?? []
  return reason ? `The annotation ${key} ${reason}` : actedOn('annotation', key)
}
