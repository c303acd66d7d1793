import { z } from 'zod'
import { EngineError } from '../../../errors.ts'
import type { ClusterObject, ListFilter, ObjectKind } from '../cluster/cluster.ts'

const texts = z.record(z.string(), z.string()).default({})

const Meta = z.object({
  name: z.string(),
  namespace: z.string().default(''),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.number().default(0),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  labels: texts,
  annotations: texts,
  finalizers: z.array(z.string()).default([]),
  ownerReferences: z.array(z.object({ kind: z.string(), name: z.string(), uid: z.string() })).default([]),
})
const RawObject = z.looseObject({ metadata: Meta })

/** @throws EngineError `other` for JSON that is no object of the API */
export function toObject(kind: ObjectKind, json: unknown): ClusterObject {
  const parsed = RawObject.safeParse(json)
  if (!parsed.success)
    throw new EngineError('other', `The cluster described a ${kind} in a way that this agent does not understand`, {
      cause: parsed.error,
    })
  // Managed fields are half of an object's size and nobody reads them; `metadata` is parsed into the fields below.
  const { apiVersion: _version, kind: _kind, metadata, ...fields } = parsed.data
  const { creationTimestamp, deletionTimestamp, ownerReferences, ...known } = metadata
  return {
    kind,
    ...known,
    createdAt: new Date(creationTimestamp ?? 0),
    deletedAt: deletionTimestamp === undefined ? undefined : new Date(deletionTimestamp),
    owners: ownerReferences,
    fields,
  }
}

const RawList = z.object({
  metadata: z.object({ resourceVersion: z.string().default(''), continue: z.string().default('') }),
  items: z.array(z.unknown()).nullish(),
})

/** One page of a list. */
export function toPage(kind: ObjectKind, json: unknown) {
  const { items, metadata } = RawList.parse(json)
  return {
    objects: (items ?? []).map((item) => toObject(kind, item)),
    resourceVersion: metadata.resourceVersion,
    next: metadata.continue === '' ? undefined : metadata.continue,
  }
}

/** The selectors of a filter, as parameters of a request. */
export function toSelectors({ fields = {}, labels = {} }: ListFilter): Record<string, string | undefined> {
  const join = (terms: Readonly<Record<string, string | undefined>>) =>
    Object.entries(terms)
      .map(([key, value]) => (value === undefined ? key : `${key}=${value}`))
      .join(',') || undefined
  return { labelSelector: join(labels), fieldSelector: join(fields) }
}
