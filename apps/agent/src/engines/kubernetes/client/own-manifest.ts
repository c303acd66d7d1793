import { z } from 'zod'
import { pause } from '../../../concurrency/pause.ts'
import type { ObjectRef } from '../cluster/cluster.ts'
import { mergeFields } from '../cluster/owned-fields.ts'
import type { Api } from './api.ts'
import { ApiError } from './api-error.ts'
import { toObjectPath } from './kinds.ts'

/** The name under which the cluster records which fields this agent has set. */
export const manager = 'crux'

const attemptsMax = 5
const pauseMs = 50

const Recorded = z.object({
  metadata: z.object({
    managedFields: z
      .array(
        z.object({
          manager: z.string().optional(),
          operation: z.string().optional(),
          subresource: z.string().optional(),
          fieldsV1: z.unknown(),
        }),
      )
      .default([]),
  }),
})

/**
 * Records the fields that the creation of an object set as applied ones. The cluster records a creation as an update, and an update by the
 * same program counts as one by another: the next apply would conflict with it, and could remove none of its fields. Where the creation was
 * interrupted before this, and an apply came since, both records become one.
 *
 * @param json the object, as its creation or a read answered it
 * @see https://github.com/kubernetes/client-go/blob/v0.34.0/util/csaupgrade/upgrade.go which does the same
 * @returns the object as it is then
 */
export async function recordAsApplied(api: Api, ref: ObjectRef, json: unknown): Promise<unknown> {
  const path = toObjectPath(ref)
  let object = json
  for (let attempt = 1; ; attempt += 1) {
    const changes = toChanges(object)
    if (changes.length === 0) return object
    try {
      return await api.json({
        method: 'PATCH',
        path,
        query: { fieldManager: manager },
        contentType: 'application/json-patch+json',
        body: changes,
      })
    } catch (error) {
      if (!(error instanceof ApiError) || ![409, 422].includes(error.code) || attempt >= attemptsMax) throw error
      await pause(pauseMs * attempt, new AbortController().signal)
      object = await api.json({ path })
    }
  }
}

/** As a JSON patch. Controllers add their own records at the same time, so the places are checked. */
function toChanges(json: unknown): object[] {
  const records = Recorded.safeParse(json).data?.metadata.managedFields ?? []
  const find = (operation: string) =>
    records.findIndex((one) => one.manager === manager && one.operation === operation && !one.subresource)
  const toPath = (index: number) => `/metadata/managedFields/${index}`
  const check = (index: number) => [
    { op: 'test', path: `${toPath(index)}/manager`, value: manager },
    { op: 'test', path: `${toPath(index)}/operation`, value: records[index]?.operation },
  ]
  const [updated, applied] = [find('Update'), find('Apply')]
  if (updated === -1) return []
  if (applied === -1)
    return [...check(updated), { op: 'replace', path: `${toPath(updated)}/operation`, value: 'Apply' }]
  const fields = mergeFields(records[applied]?.fieldsV1, records[updated]?.fieldsV1)
  return [
    ...check(updated),
    ...check(applied),
    { op: 'replace', path: `${toPath(applied)}/fieldsV1`, value: fields },
    { op: 'remove', path: toPath(updated) },
  ]
}
