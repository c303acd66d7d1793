import {
  agentStateRights,
  clusterRights,
  deploymentRights,
  type KubernetesRight,
  agentLabels as labels,
  limitedRights,
} from '@crux/rules'
import { stringify } from 'yaml'
import type { ClusterValues } from './install-values.ts'

const name = 'crux-agent'
/** Names that the agent and the install script know too. */
export const installSecretName = `${name}-install`
export const settingsName = `${name}-settings`
export const authorityName = `${name}-authority`
/** Where the pod finds the authority of the server's certificate, when it is one of the operator's own. */
export const authorityFile = '/etc/crux/authority/ca.pem'

type KubernetesObject = { apiVersion: string; kind: string } & Record<string, unknown>

/** The objects of the agent as YAML, for `kubectl apply`. */
export const agentManifest = (values: ClusterValues): string =>
  toYaml([namespaceObject(values), settingsObject(values), ...agentObjects(values)])

export const toYaml = (objects: readonly KubernetesObject[]): string =>
  objects.map((object) => stringify(object, { lineWidth: 0 })).join('---\n')

/** Its pods may have no rights on the machines of the cluster: the API server refuses any that ask for some. */
export const namespaceObject = ({ agentNamespace }: ClusterValues): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: agentNamespace, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
})

/** The settings that operators may change afterwards (docs/kubernetes.md). */
export const settingsObject = ({ agentNamespace, url }: ClusterValues): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: settingsName, namespace: agentNamespace, labels },
  data: { CRUX_URL: url },
})

/** All other objects of the agent: its account and rights, its token, and the Deployment. */
export function agentObjects(values: ClusterValues): KubernetesObject[] {
  const { agentNamespace: namespace, namespaces, token } = values
  const own = { name, namespace, labels }
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: own },
    role('Role', `${name}-state`, agentStateRights, { own: values, namespace }),
    ...binding('Role', `${name}-state`, { own: values, namespace }),
    ...(namespaces.length === 0
      ? [
          role('ClusterRole', namespace, [...clusterRights, ...deploymentRights], { own: values }),
          ...binding('ClusterRole', namespace, { own: values }),
        ]
      : namespaces.flatMap((one) => [
          role('Role', namespace, [...limitedRights, ...deploymentRights], { own: values, namespace: one }),
          ...binding('Role', namespace, { own: values, namespace: one }),
        ])),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...own, name: installSecretName },
      type: 'Opaque',
      stringData: { token },
    },
    agentDeployment(values),
  ]
}

interface Place {
  own: ClusterValues
  /** Of a Role; a ClusterRole has none. */
  namespace?: string
}

const role = (
  kind: 'Role' | 'ClusterRole',
  roleName: string,
  rights: readonly KubernetesRight[],
  { namespace }: Place,
): KubernetesObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name: roleName, ...(namespace && { namespace }), labels },
  rules: rights.map(({ apiGroup, resources, verbs }) => ({
    apiGroups: [apiGroup],
    resources: [...resources],
    verbs: [...verbs],
  })),
})

const binding = (
  kind: 'Role' | 'ClusterRole',
  roleName: string,
  { namespace, own: { agentNamespace } }: Place,
): KubernetesObject[] => [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata: { name: roleName, ...(namespace && { namespace }), labels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
    subjects: [{ kind: 'ServiceAccount', name, namespace: agentNamespace }],
  },
]

/** The pod has no access to its machine, writes no file, and its process is no root. */
function agentDeployment({
  agentNamespace,
  image,
  imageIsPulled,
  installId,
  namespaces,
  nodeId,
}: ClusterValues): KubernetesObject {
  const selector = { 'app.kubernetes.io/name': name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: agentNamespace, labels },
    spec: {
      replicas: 1,
      // An agent whose token is refused ends at once: it must not count as one that runs.
      minReadySeconds: 5,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels, annotations: { 'dev.crux/install': installId } },
        spec: {
          serviceAccountName: name,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'agent',
              image,
              imagePullPolicy: imageIsPulled ? 'IfNotPresent' : 'Never',
              envFrom: [{ configMapRef: { name: settingsName } }],
              env: [
                { name: 'CRUX_ENGINE', value: 'kubernetes' },
                { name: 'CRUX_NODE_ID', value: nodeId },
                ...(namespaces.length > 0 ? [{ name: 'CRUX_NAMESPACES', value: namespaces.join(',') }] : []),
              ],
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '512Mi' } },
              volumeMounts: [{ name: 'authority', mountPath: '/etc/crux/authority', readOnly: true }],
            },
          ],
          volumes: [{ name: 'authority', configMap: { name: authorityName, optional: true } }],
        },
      },
    },
  }
}
