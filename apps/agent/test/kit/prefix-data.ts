import { type DeletedPrefixData, DeletionState, type PrefixData } from '@crux/agent-protocol'
import { expect } from 'vitest'
import type { Manifest } from '../../src/engines/kubernetes/cluster/cluster.ts'
import type { ClusterAgent } from './cluster-agent.ts'
import { shell } from './cluster-scripts.ts'

/** The agent waits for the cluster several times. */
const timeoutMs = 80_000

type Chosen = { claims?: readonly string[]; namespace?: boolean }

/** What is asked and deleted of a prefix whose only container, `web`, has the volumes `data` and `cache`. */
export function createPrefixData(agent: ClusterAgent) {
  const { cluster, owner, server } = agent
  const { prefix } = owner

  async function find(): Promise<PrefixData> {
    const result = await server.ask({ case: 'findPrefixData', value: { prefix } })
    if (result.case !== 'prefixData') throw new Error(`no data: ${toText(result)}`)
    return result.value
  }
  const toKeys = async (names: readonly string[]) =>
    Promise.all(
      names.map(async (name) => ({ name, uid: (await agent.get('PersistentVolumeClaim', name))?.uid ?? 'gone' })),
    )
  /** A kind that the cluster has just learned is counted half a minute later, and a busy cluster takes its time to delete a namespace. */
  async function tryToDelete({ claims = [], namespace = false }: Chosen) {
    const value = { prefix, claims: await toKeys(claims), namespace }
    for (;;) {
      const result = await server.ask({ case: 'deletePrefixData', value }, timeoutMs)
      const deleted = result.case === 'deletedPrefixData' ? result.value.namespace : undefined
      const isUnfinished = deleted?.state === DeletionState.DELETING || deleted?.reason.includes('does not count')
      if (!isUnfinished) return result
    }
  }
  /** A release of the container, until its end. */
  const start = async (config: object = {}) =>
    server.deployAndWait(
      agent.release({
        instances: [
          {
            config: {
              name: 'web',
              ...shell("trap 'exit 0' TERM; while true; do sleep 0.1; done"),
              environment: [{ key: 'A', value: 'b' }],
              secrets: [{ key: 'PASSWORD', required: true, encrypted: true, value: await agent.seal('secret') }],
              ports: [{ internal: 8080, external: 80 }],
              volumes: [
                { name: 'data', path: '/data', size: '10Mi' },
                { name: 'cache', path: '/cache', size: '20Mi' },
              ],
              ...config,
            },
          },
        ],
      }),
    )
  return {
    find,
    tryToDelete,
    async delete(chosen: Chosen): Promise<DeletedPrefixData> {
      const result = await tryToDelete(chosen)
      if (result.case !== 'deletedPrefixData') throw new Error(`nothing was deleted: ${toText(result)}`)
      return result.value
    },
    start,
    deploy: async (config: object = {}) => expect(await start(config)).toMatchObject({ successful: true, reason: '' }),
    deleteContainers: async () =>
      expect(await server.ask({ case: 'deleteContainers', value: { owner } }, 30_000)).toMatchObject({ case: 'done' }),
    namespace: () => cluster.get({ kind: 'Namespace', namespace: '', name: prefix }),
    quotas: async () => (await cluster.list('ResourceQuota', { namespace: prefix })).objects.map(({ name }) => name),
    create: (kind: 'Secret' | 'ConfigMap' | 'PersistentVolumeClaim', name: string, more: Partial<Manifest> = {}) =>
      cluster.create({
        apiVersion: 'v1',
        kind,
        metadata: { name, namespace: prefix },
        ...(kind === 'PersistentVolumeClaim' && {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
        }),
        ...more,
      }),
  }
}

const toText = (result: { case: string | undefined; value?: unknown }): string =>
  result.case === 'failure' ? JSON.stringify(result.value) : String(result.case)

export const isDeleted = { state: DeletionState.DELETED, reason: '' }
export const isKept = (reason: string | RegExp) => ({
  state: DeletionState.KEPT,
  reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
})
