import { create } from '@bufbuild/protobuf'
import { type ObjectDifference, ObjectDifferenceSchema, ObjectDifferenceType, type Release } from '@crux/agent-protocol'
import { z } from 'zod'
import { EngineError, PlanError } from '../../../errors.ts'
import { createRedactor } from '../../../secrets/redaction.ts'
import { type DriftedObject, findDrift } from '../drift/find-drift.ts'
import type { ResolvedWorkload } from '../plan/manifests.ts'
import { listForeignNamespaces } from './check-namespace.ts'
import { assertNamespace } from './own-objects.ts'
import { prepareKnownWorkloads } from './prepare.ts'
import type { ClusterNode } from './release-context.ts'

const types: Readonly<Record<DriftedObject['type'], ObjectDifferenceType>> = {
  missing: ObjectDifferenceType.MISSING,
  changed: ObjectDifferenceType.CHANGED,
  added: ObjectDifferenceType.ADDED,
  foreign: ObjectDifferenceType.FOREIGN,
}

/** A page shows differences, and no whole files. */
const textMax = 1_000
const objectsMax = 500
const fieldsMax = 100

/**
 * What differs in the cluster from a release. Nothing is changed, and no value of a secret is returned.
 *
 * @throws EngineError `refused` with the reason why it cannot be compared
 */
export async function answerDrift(
  node: ClusterNode,
  release: Release,
  signal: AbortSignal,
): Promise<ObjectDifference[]> {
  const { owner } = release
  if (!owner) throw new EngineError('refused', 'The release names no owner')
  try {
    const workloads = await prepareKnownWorkloads(node, release, signal)
    const foreignNamespaces = listForeignNamespaces(node, release)
    await assertNamespace(node.cluster, owner.prefix, { owner, foreignNamespaces })
    const drifted = await findDrift(node.cluster, release, workloads)
    const toShown = createShown(workloads)
    return drifted.slice(0, objectsMax).map((object) => toDifference(object, toShown))
  } catch (error) {
    if (error instanceof PlanError) throw new EngineError('refused', error.message, { cause: error })
    throw error
  }
}

function toDifference(
  { fields, instanceId, kind, name, type }: DriftedObject,
  toShown: (value: unknown) => string | undefined,
): ObjectDifference {
  return create(ObjectDifferenceSchema, {
    kind,
    name,
    instanceId,
    type: types[type],
    fields: fields.slice(0, fieldsMax).map(({ found, isSecret, path, wanted }) => {
      const [shownWanted, shownFound] = isSecret ? [] : [toShown(wanted), toShown(found)]
      return {
        path,
        secret: isSecret,
        ...(shownWanted !== undefined && { wanted: shownWanted }),
        ...(shownFound !== undefined && { found: shownFound }),
      }
    }),
  })
}

const Data = z.record(z.string(), z.string()).catch({})

/** Somebody may have written the value of a secret to a field that is none, such as an argument. */
function createShown(workloads: readonly ResolvedWorkload[]): (value: unknown) => string | undefined {
  const secrets = workloads.flatMap(({ manifests }) =>
    Object.values(Data.parse(manifests.secret?.data)).flatMap((value) => [
      value,
      Buffer.from(value, 'base64').toString('utf8'),
    ]),
  )
  const redact = createRedactor(secrets)
  return (value) => {
    if (value === undefined || value === null) return undefined
    const text = redact(typeof value === 'string' ? value : JSON.stringify(value))
    return text.length > textMax ? `${text.slice(0, textMax).toWellFormed()}…` : text
  }
}
