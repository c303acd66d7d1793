import { readFile } from 'node:fs/promises'
import { errorCode } from '@crux/service-kit'
import { EngineError } from '../../../errors.ts'
import type { ClusterObject, Manifest, ObjectKind } from '../cluster/cluster.ts'
import { openAccess } from './access.ts'
import { Api } from './api.ts'
import { ApiError } from './api-error.ts'
import { translating, translatingIfThere } from './errors.ts'
import { toCollectionPath, toObjectPath } from './kinds.ts'
import { toObject, toPage, toSelectors } from './objects.ts'
import { manager } from './own-manifest.ts'

const namespacePath = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'
/** A page is in memory as a whole, and a Secret may have a megabyte. */
const pageSize = 8

type StateKind = Extract<ObjectKind, 'Secret' | 'Lease'>
const toStateKind = (kind: ObjectKind): StateKind => (kind === 'Lease' ? 'Lease' : 'Secret')

/**
 * The objects of the agent's own namespace. Unlike those of releases they are changed field by field, and only as the version that was read.
 * Errors are those of `Cluster`.
 */
export interface StateObjects {
  readonly namespace: string
  /** Undefined when there is none. */
  get(kind: StateKind, name: string, timeoutMs?: number): Promise<ClusterObject | undefined>
  list(kind: StateKind, labels: Readonly<Record<string, string>>): AsyncIterable<ClusterObject>
  /** @throws EngineError `conflict` when there is one */
  create(manifest: StateManifest, timeoutMs?: number): Promise<ClusterObject>
  /**
   * Sets the fields that the change names; null removes one. All others stay as they are.
   *
   * @throws EngineError `conflict` when the object is another one or was changed since it was read, `not-found` when there is none
   */
  change(
    known: Pick<ClusterObject, 'kind' | 'name' | 'uid' | 'resourceVersion'>,
    change: Readonly<Record<string, unknown>>,
    timeoutMs?: number,
  ): Promise<ClusterObject>
  /** Succeeds when there is none. */
  delete(kind: StateKind, name: string): Promise<void>
  close(): void
}

export interface StateManifest extends Omit<Manifest, 'kind'> {
  kind: StateKind
  metadata: Omit<Manifest['metadata'], 'namespace'>
}

/**
 * Nothing is asked of the cluster yet.
 *
 * @param options.kubeconfig undefined: the service account of the agent's own pod
 * @param options.namespace undefined: the namespace of that pod
 */
export async function openStateObjects(options: {
  kubeconfig: string | undefined
  namespace: string | undefined
}): Promise<StateObjects> {
  const { kubeconfig } = options
  const namespace = options.namespace ?? (await readOwnNamespace())
  const api = await translating(undefined, async () => new Api(await openAccess(kubeconfig)))
  const toRef = (kind: StateKind, name: string) => ({ kind, namespace, name })
  const query = { fieldManager: manager }
  return {
    namespace,
    get(kind, name, timeoutMs) {
      const ref = toRef(kind, name)
      return translatingIfThere({ verb: 'get', ...ref }, async () =>
        toObject(kind, await api.json({ path: toObjectPath(ref) }, timeoutMs)),
      )
    },
    async *list(kind, labels) {
      const path = toCollectionPath(kind, namespace)
      let next: string | undefined
      do {
        const page = await translating({ verb: 'list', kind, namespace }, async () =>
          toPage(
            kind,
            await api.json({ path, query: { ...toSelectors({ labels }), limit: String(pageSize), continue: next } }),
          ),
        )
        yield* page.objects
        next = page.next
      } while (next !== undefined)
    },
    create(manifest, timeoutMs) {
      const { kind, metadata } = manifest
      const body = { ...manifest, metadata: { ...metadata, namespace } }
      return translating({ verb: 'create', ...toRef(kind, metadata.name) }, async () =>
        toObject(
          kind,
          await api.json({ method: 'POST', path: toCollectionPath(kind, namespace), query, body }, timeoutMs),
        ),
      )
    },
    change(known, change, timeoutMs) {
      const { name, resourceVersion, uid } = known
      const ref = toRef(toStateKind(known.kind), name)
      return translating({ verb: 'patch', ...ref }, async () =>
        toObject(
          ref.kind,
          await api.json(
            {
              method: 'PATCH',
              path: toObjectPath(ref),
              query,
              contentType: 'application/merge-patch+json',
              body: { ...change, metadata: { uid, resourceVersion } },
            },
            timeoutMs,
          ),
        ),
      )
    },
    delete(kind, name) {
      const ref = toRef(kind, name)
      return translating({ verb: 'delete', ...ref }, async () => {
        try {
          await api.json({ method: 'DELETE', path: toObjectPath(ref) })
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 404) throw error
        }
      })
    },
    close: () => api.close(),
  }
}

async function readOwnNamespace(): Promise<string> {
  try {
    return (await readFile(namespacePath, 'utf8')).trim()
  } catch (error) {
    throw new EngineError(
      'refused',
      `The pod's service account names no namespace (${errorCode(error)}): mount its token, or set CRUX_KUBECONFIG`,
    )
  }
}
