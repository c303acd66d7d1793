import type { Logger } from '@crux/service-kit'
import { z } from 'zod'
import { EngineError, isEngineError } from '../../../errors.ts'
import type {
  AppliedPreview,
  Cluster,
  ListFilter,
  ListPage,
  Manifest,
  ObjectKind,
  ObjectRef,
} from '../cluster/cluster.ts'
import { findOwnedFields, mergeFields, toManifest, toOwnedManifest } from '../cluster/owned-fields.ts'
import { openAccess } from './access.ts'
import { Api, type ApiOptions } from './api.ts'
import { ApiError } from './api-error.ts'
import { describe } from './describe.ts'
import { listNamespacedResources } from './discovery.ts'
import { toManager, translating, translatingIfThere } from './errors.ts'
import { getResource, toCollectionPath, toGroupPath, toObjectPath } from './kinds.ts'
import { toObject, toPage, toSelectors } from './objects.ts'
import { manager, recordAsApplied } from './own-manifest.ts'
import { readLog } from './read-log.ts'
import { watch } from './watch.ts'

/** The API server keeps a page in memory as a whole, and so does this process. */
const pageSize = 500
const listAttemptsMax = 3
const previewAttemptsMax = 5
const gone = 410
/** The strictest check: a field that the cluster does not know is refused instead of being ignored. */
const fieldValidation = 'Strict'

const Resources = z.object({ resources: z.array(z.object({ name: z.string() })).default([]) })

export interface ClusterOptions extends ApiOptions {
  /** Path of a kubeconfig; absent: the service account of the agent's own pod. */
  kubeconfig?: string
  log: Logger
}

/**
 * Opens a cluster. Nothing is asked of it yet, so that an API server that does not answer is met by the first request.
 *
 * @throws EngineError `refused` for a kubeconfig that cannot be used
 */
export async function openCluster({ kubeconfig, log, ...options }: ClusterOptions): Promise<Cluster> {
  const api = await translating(undefined, async () => new Api(await openAccess(kubeconfig), options))
  return {
    describe: () => describe(api),
    assertAvailable: () => translating(undefined, () => api.probe()),
    get: (ref) =>
      translatingIfThere({ verb: 'get', ...ref }, async () =>
        toObject(ref.kind, await api.json({ path: toObjectPath(ref) })),
      ),
    async getOwned(ref) {
      const json = await translatingIfThere({ verb: 'get', ...ref }, async () =>
        recordAsApplied(api, ref, await api.json({ path: toObjectPath(ref) })),
      )
      return json === undefined
        ? undefined
        : { object: toObject(ref.kind, json), manifest: toOwnedManifest(ref.kind, json, manager) }
    },
    serves: (kind) => serves(api, kind),
    listNamespacedResources: () => translating(undefined, () => listNamespacedResources(api)),
    pages: (kind, filter) => listPages(api, kind, filter),
    async list(kind, filter) {
      const objects = []
      let resourceVersion = ''
      for await (const page of listPages(api, kind, filter)) {
        if (page.isFirst) objects.length = 0
        objects.push(...page.objects)
        resourceVersion = page.resourceVersion
      }
      return { objects, resourceVersion }
    },
    create: (manifest) => createObject(api, manifest),
    apply: (manifest, known, options = {}) => applyObject(api, manifest, known, options),
    previewApply: (manifest) => previewApply(api, manifest),
    removeFields: (ref, known, paths) => removeFields(api, ref, known, paths),
    delete: (ref, given = {}) =>
      translating({ verb: 'delete', ...ref }, () => deleteObject(api, toObjectPath(ref), given)),
    watch: (kind, filter, signal) => watch({ api, kind, filter, signal, log }),
    readLog: (pod, request) => readLog(api, pod, request),
    close: () => api.close(),
  }
}

async function serves(api: Api, kind: ObjectKind): Promise<boolean> {
  try {
    const json = await translating(undefined, () => api.json({ path: toGroupPath(kind) }))
    return Resources.parse(json).resources.some(({ name }) => name === getResource(kind))
  } catch (error) {
    if (isEngineError(error, 'not-found')) return false
    throw error
  }
}

async function* listPages(api: Api, kind: ObjectKind, filter: ListFilter): AsyncGenerator<ListPage> {
  const path = toCollectionPath(kind, filter.namespace ?? '')
  const asked = { verb: 'list', kind, namespace: filter.namespace }
  const read = (next: string | undefined, limit: number | undefined) =>
    translating(asked, async () =>
      toPage(
        kind,
        await api.json({ path, query: { ...toSelectors(filter), limit: limit?.toString(), continue: next } }),
      ),
    )
  for (let attempt = 1; ; attempt += 1) {
    let next: string | undefined
    let isFirst = true
    try {
      do {
        // A cluster that changes faster than it can be read page by page is read as a whole.
        const page = await read(next, attempt < listAttemptsMax ? pageSize : undefined)
        yield { objects: page.objects, resourceVersion: page.resourceVersion, isFirst }
        isFirst = false
        next = page.next
      } while (next !== undefined)
      return
    } catch (error) {
      // The moment that the pages describe is not kept any more.
      const isExpired = error instanceof EngineError && error.cause instanceof ApiError && error.cause.code === gone
      if (!isExpired || attempt >= listAttemptsMax) throw error
    }
  }
}

const toAsked = (verb: string, { kind, metadata }: Manifest) => ({ verb, kind, ...toPlace(metadata) })
const toPlace = ({ name, namespace = '' }: Manifest['metadata']) => ({ name, namespace })

function createObject(api: Api, manifest: Manifest) {
  const ref = { kind: manifest.kind, ...toPlace(manifest.metadata) }
  return translating(toAsked('create', manifest), async () => {
    const created = await api.json({
      method: 'POST',
      path: toCollectionPath(ref.kind, ref.namespace),
      query: { fieldManager: manager, fieldValidation },
      body: manifest,
    })
    return toObject(ref.kind, isEverApplied(manifest) ? await recordAsApplied(api, ref, created) : created)
  })
}

/** What nothing changes after its creation needs no record of its fields, and the agent no right to change it. */
const isEverApplied = ({ immutable, kind }: Manifest): boolean =>
  immutable !== true && !['Namespace', 'PersistentVolumeClaim', 'ResourceQuota'].includes(kind)

/** @param options.dryRun the API answers as if it had applied the manifest */
function sendApply(
  api: Api,
  manifest: Manifest,
  known: { uid: string; resourceVersion: string },
  { dryRun = false, force = false }: { dryRun?: boolean; force?: boolean },
): Promise<unknown> {
  return api.json({
    method: 'PATCH',
    path: toObjectPath({ kind: manifest.kind, ...toPlace(manifest.metadata) }),
    query: { fieldManager: manager, force: String(force), fieldValidation, dryRun: dryRun ? 'All' : undefined },
    contentType: 'application/apply-patch+yaml',
    body: {
      ...manifest,
      metadata: { ...manifest.metadata, uid: known.uid, resourceVersion: known.resourceVersion },
    },
  })
}

function applyObject(
  api: Api,
  manifest: Manifest,
  known: Parameters<Cluster['apply']>[1],
  options: { force?: boolean },
) {
  const ref = { kind: manifest.kind, ...toPlace(manifest.metadata) }
  const path = toObjectPath(ref)
  const apply = (resourceVersion: string) => sendApply(api, manifest, { uid: known.uid, resourceVersion }, options)
  return translating(toAsked('patch', manifest), async () => {
    try {
      return toObject(ref.kind, await apply(known.resourceVersion))
    } catch (error) {
      if (!isOwnConflict(error)) throw error
      // This agent's creation of the object was interrupted before its fields were recorded as applied.
      const current = await api.json({ path })
      if (toObject(ref.kind, current).resourceVersion !== known.resourceVersion) throw error
      const recorded = toObject(ref.kind, await recordAsApplied(api, ref, current))
      return toObject(ref.kind, await apply(recorded.resourceVersion))
    }
  })
}

function previewApply(api: Api, manifest: Manifest): Promise<AppliedPreview | undefined> {
  const { kind } = manifest
  const ref = { kind, ...toPlace(manifest.metadata) }
  return translatingIfThere(toAsked('patch', manifest), async () => {
    for (let attempt = 1; ; attempt += 1) {
      const json = await api.json({ path: toObjectPath(ref) })
      const found = toObject(kind, json)
      try {
        const preview = await sendApply(api, manifest, found, { dryRun: true, force: true })
        const fields = mergeFields(findOwnedFields(json, manager), findOwnedFields(preview, manager))
        return {
          found,
          owned: toOwnedManifest(kind, json, manager),
          applied: toObject(kind, preview),
          previous: toManifest(kind, json, fields) ?? manifest,
        }
      } catch (error) {
        // A controller has written a new status, so that both answers describe different moments.
        if (!(error instanceof ApiError) || error.code !== 409 || attempt >= previewAttemptsMax) throw error
      }
    }
  })
}

function removeFields(
  api: Api,
  ref: ObjectRef,
  { resourceVersion }: { resourceVersion: string },
  paths: readonly string[],
) {
  return translating({ verb: 'patch', ...ref }, async () => {
    try {
      const json = await api.json({
        method: 'PATCH',
        path: toObjectPath(ref),
        query: { fieldManager: manager },
        contentType: 'application/json-patch+json',
        body: [
          { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
          ...paths.map((path) => ({ op: 'remove', path })),
        ],
      })
      return toObject(ref.kind, json)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 422) throw error
      throw new EngineError('conflict', `The ${ref.kind} ${ref.name} was changed in the meantime`, { cause: error })
    }
  })
}

function isOwnConflict(error: unknown): boolean {
  const causes = error instanceof ApiError && error.code === 409 ? error.status.details.causes : []
  return causes.length > 0 && causes.every(({ message }) => toManager(message) === manager)
}

async function deleteObject(
  api: Api,
  path: string,
  preconditions: NonNullable<Parameters<Cluster['delete']>[1]>,
): Promise<void> {
  const { resourceVersion, uid } = preconditions
  try {
    await api.json({
      method: 'DELETE',
      path,
      body: { propagationPolicy: 'Background', ...(uid !== undefined && { preconditions }) },
    })
  } catch (error) {
    const isGone = error instanceof ApiError && error.code === 404
    const isAnother =
      uid !== undefined && resourceVersion === undefined && error instanceof ApiError && error.code === 409
    if (!isGone && !isAnother) throw error
  }
}
