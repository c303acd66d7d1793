/** What the agent of a cluster may do with some resources, and why. */
export interface KubernetesRight {
  /** Empty for the core group. */
  apiGroup: string
  resources: readonly string[]
  verbs: readonly string[]
  /** The feature that needs it. */
  reason: string
}

/**
 * The rights that the agent needs in every namespace that it deploys to. Nothing lists or watches Secrets. A test of the agent takes each verb
 * away and finds what fails.
 */
export const deploymentRights: readonly KubernetesRight[] = [
  {
    apiGroup: 'apps',
    resources: ['deployments'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    reason: 'Containers run as Deployments',
  },
  {
    apiGroup: 'batch',
    resources: ['jobs'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    reason: 'Containers that are expected to exit run as Jobs',
  },
  {
    apiGroup: 'apps',
    resources: ['replicasets'],
    verbs: ['list', 'watch'],
    reason: 'The replica set of a Deployment shows how far its rollout is',
  },
  { apiGroup: '', resources: ['pods'], verbs: ['get', 'list', 'watch'], reason: 'States of containers' },
  { apiGroup: '', resources: ['pods/log'], verbs: ['get'], reason: 'Logs of containers' },
  { apiGroup: '', resources: ['events'], verbs: ['list', 'watch'], reason: 'Why a pod does not start' },
  {
    apiGroup: '',
    resources: ['services'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    reason: 'Ports of containers, and addresses of load balancers',
  },
  {
    apiGroup: '',
    resources: ['configmaps', 'secrets'],
    verbs: ['get', 'create', 'delete'],
    reason: 'Environment, secrets and credentials of registries; none of them is ever changed',
  },
  {
    apiGroup: '',
    resources: ['persistentvolumeclaims'],
    verbs: ['get', 'list', 'create', 'delete'],
    reason: 'Volumes; an admin may delete them with their data when a prefix is deleted',
  },
  {
    apiGroup: 'networking.k8s.io',
    resources: ['ingresses'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    reason: 'Domains of exposed containers, and their addresses',
  },
  {
    apiGroup: 'monitoring.coreos.com',
    resources: ['servicemonitors'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
    reason: 'Metrics, where the operator of Prometheus is installed',
  },
]

/** The rights that are for the whole cluster, in addition. */
export const clusterRights: readonly KubernetesRight[] = [
  {
    apiGroup: '',
    resources: ['namespaces'],
    verbs: ['get', 'create', 'delete'],
    reason: 'A prefix has a namespace of its own, which an admin may delete',
  },
  {
    apiGroup: '',
    resources: ['resourcequotas'],
    verbs: ['get', 'create', 'delete'],
    reason: 'Before a namespace is deleted, a quota counts what is in it and keeps everything new out',
  },
  { apiGroup: '', resources: ['nodes'], verbs: ['list'], reason: "The cluster's machines and their capacity" },
]

/** In addition in each namespace of an agent that is limited to some: it creates none, and asks whose each is. */
export const limitedRights: readonly KubernetesRight[] = [
  { apiGroup: '', resources: ['namespaces'], verbs: ['get'], reason: 'Whose the namespace is' },
]

/** The rights that the agent needs in its own namespace. */
export const agentStateRights: readonly KubernetesRight[] = [
  {
    apiGroup: '',
    resources: ['secrets'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
    reason: "The agent's token, its key and the records of releases",
  },
  {
    apiGroup: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'create', 'patch'],
    reason: 'Of two pods of the agent, one works',
  },
  {
    apiGroup: '',
    resources: ['pods'],
    verbs: ['get'],
    reason: "The image of the agent's own pod, which also copies files into volumes",
  },
]

/** On every object of an agent's installation and on its namespace, to which no agent deploys. */
export const agentLabels = { 'app.kubernetes.io/name': 'crux-agent', 'app.kubernetes.io/managed-by': 'crux' } as const
