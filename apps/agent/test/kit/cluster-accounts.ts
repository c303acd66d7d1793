import { randomUUID } from 'node:crypto'
import type { KubernetesRight } from '@crux/rules'
import { z } from 'zod'
import type { TestCluster } from './cluster.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const Token = z.object({ status: z.object({ token: z.string() }) })

const toRules = (rights: readonly KubernetesRight[]) =>
  rights.map(({ apiGroup, resources, verbs }) => ({ apiGroups: [apiGroup], resources, verbs }))

export interface AccountRights {
  /** In all namespaces, by a ClusterRole. */
  cluster?: readonly KubernetesRight[]
  /** By namespace, by a Role each. */
  namespaces?: Readonly<Record<string, readonly KubernetesRight[]>>
}

/**
 * A service account with exactly the given rights.
 *
 * @param namespace of the account itself
 * @returns the path of its kubeconfig, its name, which its roles have too, and what deletes its rights
 */
export async function createAccount(
  testCluster: Pick<TestCluster, 'admin' | 'writeKubeconfig'>,
  namespace: string,
  { cluster = [], namespaces = {} }: AccountRights,
): Promise<{
  kubeconfig: string
  name: string
  /** By a Role of a namespace. */
  grant(namespace: string, rights: readonly KubernetesRight[]): Promise<void>
  deleteRights(): Promise<void>
}> {
  const { admin } = testCluster
  const post = (path: string, body: unknown) => admin.json({ method: 'POST', path, body })
  const name = `crux-test-${randomUUID()}`
  const metadata = { name }
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  const bind = (kind: string) => ({ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name }, subjects })
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await post(accounts, { metadata })
  if (cluster.length > 0) {
    await post(`${rbac}/clusterroles`, { metadata, rules: toRules(cluster) })
    await post(`${rbac}/clusterrolebindings`, { metadata, ...bind('ClusterRole') })
  }
  const grant = async (of: string, rights: readonly KubernetesRight[]) => {
    await post(`${rbac}/namespaces/${of}/roles`, { metadata, rules: toRules(rights) })
    await post(`${rbac}/namespaces/${of}/rolebindings`, { metadata, ...bind('Role') })
  }
  for (const [of, rights] of Object.entries(namespaces)) await grant(of, rights)
  const { token } = Token.parse(await post(`${accounts}/${name}/token`, { spec: {} })).status
  return {
    kubeconfig: await testCluster.writeKubeconfig(token),
    name,
    grant,
    async deleteRights() {
      if (cluster.length === 0) return
      for (const kind of ['clusterrolebindings', 'clusterroles'])
        await admin.json({ method: 'DELETE', path: `${rbac}/${kind}/${name}` })
    },
  }
}
