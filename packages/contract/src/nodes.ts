import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { agentUpdateStates, containerStates, nodeEventTypes, nodeStatuses, nodeTypes, scriptTypes } from './enums.ts'
import { isClusterNamespace, limits, patterns } from './limits.ts'
import { ContainerName, Description, Icon, Id, Name, Page, paginated, Timestamp } from './shapes.ts'

const kubernetesName = z
  .string()
  .trim()
  .max(limits.kubernetesName.max)
  .regex(patterns.dnsSubdomain, 'Use lower-case letters, digits, dashes and dots')
/** A namespace that deployments may use: those of the cluster itself are none. */
const Namespace = z
  .string()
  .trim()
  .max(limits.containerName.max)
  .regex(patterns.dnsLabel, 'Use lower-case letters, digits and dashes')
  .refine((name) => !isClusterNamespace(name), 'The namespaces default and kube-* belong to the cluster')
/** What the cluster of a node offers to deployments. It is decided here, never by a configuration. */
export const NodeCluster = z.object({
  /** Class of the ingresses of exposed containers; null: the cluster has no ingress controller for them. */
  ingressClass: kubernetesName.nullable(),
  /** The ClusterIssuer of cert-manager that makes certificates; null: the ingress controller uses its own. */
  certificateIssuer: kubernetesName.nullable(),
  /** Storage classes that every member may use. */
  storageClasses: z.array(kubernetesName).max(limits.clusterNames.max),
  /** Namespaces that somebody else made and deployments may use all the same. */
  allowForeignNamespaces: z.array(Namespace).max(limits.clusterNames.max),
  /** Seconds that a replaced pod goes on answering while the machines learn that it is gone; 2 when absent. */
  drainSeconds: z.int().min(limits.drainSeconds.min).max(limits.drainSeconds.max).optional(),
})
export type NodeCluster = z.output<typeof NodeCluster>
export const NodeWrite = z.object({
  name: Name,
  description: Description,
  icon: Icon,
  /** Of a Kubernetes node; left out, it stays as it is. */
  cluster: NodeCluster.optional(),
})
export const Node = z.object({
  id: Id,
  name: z.string(),
  type: z.enum(nodeTypes),
  description: z.string().nullish(),
  icon: Icon,
  address: z.string().nullish(),
  status: z.enum(nodeStatuses),
  connectedAt: Timestamp.nullish(),
  version: z.string().nullish(),
  /** Names as the engine reports them, e.g. "Docker 28.2" and "Debian GNU/Linux 12". */
  engineVersion: z.string().nullish(),
  operatingSystem: z.string().nullish(),
  /** Whether "Update agent" is offered: the agent is connected, differs from the server's version and can be replaced. */
  updatable: z.boolean().nullish(),
})
/** The update of the agent in progress, or the last one if it failed. */
export const AgentUpdate = z.object({
  startedAt: Timestamp,
  startedBy: z.string(),
  deadlineAt: Timestamp,
  fromVersion: z.string(),
  state: z.enum(agentUpdateStates),
  error: z.string().nullish(),
})
export const NodeInstall = z.object({
  command: z.string(),
  script: z.string(),
  expireAt: Timestamp,
  type: z.enum(nodeTypes).optional(),
  scriptType: z.enum(scriptTypes).optional(),
  /** Of a Kubernetes node: the objects that the script applies, as YAML, and how their image gets to the cluster. */
  manifest: z
    .object({ yaml: z.string(), namespace: z.string(), image: z.string(), imageIsPulled: z.boolean() })
    .nullish(),
})
export const NodeDetails = Node.extend({
  hasToken: z.boolean(),
  /** Of a Kubernetes node. */
  cluster: NodeCluster.nullish(),
  install: NodeInstall.nullish(),
  agentUpdate: AgentUpdate.nullish(),
  inUse: z.boolean(),
  /** Whether "use this machine" can work here: embedded, everything on loopback, Docker found. */
  localAgent: z.object({
    available: z.boolean(),
    reason: z.string().nullish(),
    running: z.boolean(),
    /** True: only this machine reaches Crux, so that an agent on another one could never connect. */
    loopbackOnly: z.boolean().optional(),
    /** Its last exit, until it has run for a minute again. `since`: it has not run for a minute since then. */
    lastEnd: z
      .object({ since: Timestamp, at: Timestamp, reason: z.string(), nextStartAt: Timestamp.nullish() })
      .nullish(),
  }),
})
export const NodeScriptWrite = z.object({
  type: z.enum(nodeTypes),
  scriptType: z.enum(scriptTypes),
  rootPath: z
    .string()
    .trim()
    .max(4_096)
    .refine(
      (value) => !value.startsWith('-') && !/[\n\r\0'"`$\\]/.test(value),
      'A path has no quotes, dollar signs or line breaks',
    )
    .nullish(),
  dagentTraefik: z.object({ acmeEmail: z.email() }).nullish(),
  /** Name of the agent's container; on Kubernetes of its namespace, which is made. */
  workloadName: z.string().trim().max(limits.containerName.max).regex(patterns.containerName).nullish(),
  /** The only namespaces that the agent of a cluster may use; they exist already. Left out or empty: it makes one for each prefix. */
  namespaces: z.array(Namespace).max(limits.clusterNames.max).nullish(),
})
export const NodeEvent = z.object({
  createdAt: Timestamp,
  event: z.enum(nodeEventTypes),
  data: z.record(z.string(), z.unknown()).nullish(),
})
export const NodeEventQuery = Page.extend({
  from: z.coerce.date(),
  to: z.coerce.date(),
  filterEventType: z.enum(nodeEventTypes).optional(),
})

/** `prefix` is empty for a container outside any prefix; the path contains `_` for it. */
export const ContainerIdentifier = z.object({
  prefix: z.string().max(limits.containerName.max),
  name: ContainerName,
})
/** `reason` as the cluster names it: `Running`, `CrashLoopBackOff`, `Unschedulable`. */
export const Pod = z.object({
  name: z.string(),
  state: z.enum(containerStates).nullish(),
  reason: z.string(),
  ready: z.boolean(),
  exitCode: z.int().nullish(),
  restartCount: z.int(),
  /** The machine of the cluster that it runs on; empty while none was chosen. */
  machine: z.string(),
  createdAt: Timestamp,
})
/** The way to a workload of a cluster from outside, as the cluster reports it. */
export const ExternalAddresses = z.object({
  type: z.enum(['load-balancer', 'ingress']),
  /** IP addresses and host names; empty: the cluster has given none yet. */
  addresses: z.array(z.string()),
})
/** `id` depends on the list: prefix and short name in a list of that prefix, otherwise no prefix and the full name. */
export const Container = z.object({
  id: ContainerIdentifier,
  /**
   * Prefix and short name of a container that Crux deployed for this team on this node. Absent for all others: admins and owners see their name,
   * image and state, users do not see them, and they cannot be inspected, operated or deleted.
   */
  managed: z.object({ prefix: z.string(), name: z.string() }).nullish(),
  command: z.string(),
  createdAt: Timestamp,
  startedAt: Timestamp.nullish(),
  state: z.enum(containerStates).nullish(),
  /** The state as the engine names it: `running`, `exited`, `restarting`. */
  reason: z.string(),
  /** A text if it contains more than the state: `Up 4 minutes`, `Exited (137): out of memory`. */
  status: z.string().nullish(),
  exitCode: z.int().nullish(),
  health: z.string().nullish(),
  restartCount: z.int().optional(),
  imageName: z.string(),
  imageTag: z.string(),
  ports: z.array(z.object({ internal: z.int(), external: z.int().nullish(), protocol: z.string().optional() })),
  labels: z.record(z.string(), z.string()),
  /** A workload of a cluster that runs once, so that `container-command` refuses it. */
  isJob: z.boolean().optional(),
  /** Of a workload of a cluster: its pods, the newest first. `total` counts also those that are not listed. */
  pods: z.object({ total: z.int(), items: z.array(Pod) }).optional(),
  /** Of a workload of a cluster that has a load balancer or an ingress, where the agent may watch them. */
  externalAddresses: z.array(ExternalAddresses).optional(),
})
export type Container = z.output<typeof Container>
export type Pod = z.output<typeof Pod>
const nodes = '/api/:teamSlug/nodes' as const
const containers = `${nodes}/:nodeId/:prefix/containers` as const

export const nodeEndpoints = endpoints({
  'nodes.list': {
    summary: 'List the nodes of a team',
    route: `GET ${nodes}`,
    response: z.array(Node),
    permission: 'nodes.read',
  },
  'nodes.get': {
    summary: 'Get a node',
    route: `GET ${nodes}/:nodeId`,
    response: NodeDetails,
    permission: 'nodes.read',
  },
  'nodes.create': {
    summary: 'Create a node',
    route: `POST ${nodes}`,
    body: NodeWrite,
    status: 201,
    response: Node,
    errors: ['alreadyExists'],
    permission: 'nodes.edit',
    audit: 'node',
  },
  'nodes.update': {
    summary: 'Update a node',
    route: `PUT ${nodes}/:nodeId`,
    body: NodeWrite,
    errors: ['alreadyExists'],
    permission: 'nodes.edit',
    audit: 'node',
  },
  'nodes.delete': {
    summary: 'Delete a node without deployments',
    route: `DELETE ${nodes}/:nodeId`,
    errors: ['preconditionFailed'],
    permission: 'nodes.edit',
    audit: 'node',
  },
  'nodes.create-script': {
    summary: 'Create an install script for one use within 10 minutes',
    route: `POST ${nodes}/:nodeId/script`,
    body: NodeScriptWrite,
    status: 201,
    response: NodeInstall,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'nodes.edit',
    audit: 'node-script',
  },
  'nodes.get-script': {
    summary: 'Get the install script, for a holder of its token',
    route: `GET ${nodes}/:nodeId/script`,
    contentType: 'text/plain',
    permission: 'install-token',
  },
  'nodes.get-agent-image': {
    summary: 'Download the agent image in `docker save` format, for a holder of the install token',
    route: `GET ${nodes}/:nodeId/agent-image`,
    query: z.object({ architecture: z.string().max(32).optional() }),
    contentType: 'application/x-tar',
    errors: ['preconditionFailed'],
    permission: 'install-token',
  },
  'nodes.delete-script': {
    summary: 'Delete the install script',
    route: `DELETE ${nodes}/:nodeId/script`,
    permission: 'nodes.edit',
    audit: 'node-script',
  },
  'nodes.revoke-token': {
    summary: "Revoke the agent's token",
    route: `DELETE ${nodes}/:nodeId/token`,
    permission: 'nodes.edit',
    audit: 'node-token',
  },
  'nodes.kick': {
    summary: 'Disconnect the agent',
    route: `POST ${nodes}/:nodeId/kick`,
    permission: 'nodes.edit',
    audit: 'node',
  },
  'nodes.update-agent': {
    summary: 'Update the agent of a node to the version of the server',
    route: `POST ${nodes}/:nodeId/update`,
    errors: ['preconditionFailed'],
    permission: 'nodes.edit',
    audit: 'node',
  },
  'nodes.start-local-agent': {
    summary: 'Use this machine as a node: start and supervise an agent on it',
    route: `POST ${nodes}/:nodeId/local-agent`,
    errors: ['preconditionFailed', 'alreadyExists'],
    permission: 'nodes.edit',
    audit: 'node',
  },
  'nodes.audit': {
    summary: 'List the events of a node, newest first',
    route: `GET ${nodes}/:nodeId/audit`,
    query: NodeEventQuery,
    response: paginated(NodeEvent),
    permission: 'nodes.read',
  },
  'containers.list': {
    summary: 'List the containers of a prefix (`_`: all that the caller may see)',
    route: `GET ${containers}`,
    response: z.array(Container),
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.read',
  },
  'containers.delete-prefix': {
    summary: 'Delete all containers of a prefix that Crux created',
    route: `DELETE ${containers}`,
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.delete',
    audit: 'container',
  },
  'containers.start': {
    summary: 'Start a container',
    route: `POST ${containers}/:name/start`,
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.operate',
    audit: 'container',
  },
  'containers.stop': {
    summary: 'Stop a container',
    route: `POST ${containers}/:name/stop`,
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.operate',
    audit: 'container',
  },
  'containers.restart': {
    summary: 'Restart a container',
    route: `POST ${containers}/:name/restart`,
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.operate',
    audit: 'container',
  },
  'containers.delete': {
    summary: 'Delete a container',
    route: `DELETE ${containers}/:name`,
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.delete',
    audit: 'container',
  },
  'containers.inspect': {
    summary: 'Inspect a container',
    route: `GET ${containers}/:name/inspect`,
    response: z.object({ inspection: z.string() }),
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.read',
  },
  'containers.log': {
    summary: 'Get the last log lines of a container',
    route: `GET ${containers}/:name/log`,
    query: z.object({
      take: z.coerce.number().int().min(1).max(limits.logTake.max).default(limits.logTake.default),
      pod: ContainerName.optional(),
    }),
    response: z.array(z.string()),
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.read',
  },
  'containers.download-log': {
    summary: 'Download the whole log of a container as text, with the time of each line',
    route: `GET ${containers}/:name/log/download`,
    query: z.object({ pod: ContainerName.optional() }),
    contentType: 'text/plain; charset=utf-8',
    errors: ['preconditionFailed', 'badGateway'],
    permission: 'containers.read',
  },
})
