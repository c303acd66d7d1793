import { createHash } from 'node:crypto'
import type { ContainerConfigFields, FinalContainerConfig } from '@crux/contract'
import {
  type ConfigChange,
  canonicalJson,
  diffConfig,
  type HostDanger,
  keyedFields,
  nodeDangers,
  rowKey,
} from '@crux/rules'
import type { Queries } from '../db/queries.ts'
import { storageUrls } from '../storages/index.ts'
import {
  type Confirmation,
  deleteConfirmations,
  type Startable,
  type Subject,
  selectConfirmations,
  upsertConfirmation,
} from './confirmation-store.ts'
import type { LoadedDeployment } from './deployment-store.ts'

export type Subjects = ReadonlyMap<string, Subject>

/** A host-dangerous instance of a start, and whether an admin confirmed exactly this configuration. */
export type DangerousInstance = {
  instanceId: string
  containerName: string
  dangers: HostDanger[]
  /** The last confirmation of this instance, whatever configuration it was for. */
  confirmation: Pick<Confirmation, 'byId' | 'byName' | 'at'> | undefined
  isConfirmed: boolean
  /** The differences from the confirmed configuration; empty without a confirmation or without a difference. */
  changes: ConfigChange[]
}
type Judged = DangerousInstance & { hash: string; subject: Subject }

/**
 * Reads what a start of these instances would deploy, once, so that the compared and the confirmed data are the same.
 */
export async function readSubjects(
  queries: Queries,
  deployment: LoadedDeployment,
  instances: readonly Startable[],
): Promise<Subjects> {
  const urls = await storageUrls(
    queries,
    deployment.teamId,
    instances.flatMap(({ config }) => config.storage?.storageId ?? []),
  )
  return new Map(instances.map((instance) => [instance.id, toSubject(deployment, instance, urls)]))
}

/**
 * The hash is the same for the same content, whatever the ids of rows are: also for the instances of a deployment that a
 * preview created and rolled back.
 */
export const hashSubjects = (subjects: Subjects): string => toHash([...subjects.values()].map(canonicalJson).sort())

/** The host-dangerous instances among these, each with what an admin last confirmed of it. */
export async function judgeDangers(
  queries: Queries,
  deployment: LoadedDeployment,
  instances: readonly Startable[],
  known?: Subjects,
): Promise<Judged[]> {
  const dangerous = instances.flatMap((instance) => {
    const dangers = nodeDangers(instance.config, deployment.node)
    return dangers.length > 0 ? [{ instance, dangers }] : []
  })
  if (dangerous.length === 0) return []
  const [confirmations, subjects] = await Promise.all([
    selectConfirmations(queries, deployment.id),
    known ?? readSubjects(queries, deployment, instances),
  ])
  return dangerous.flatMap(({ instance, dangers }) => {
    const subject = subjects.get(instance.id)
    if (!subject) return []
    const hash = toHash(subject)
    const confirmation = confirmations.get(instance.id)
    const isConfirmed = confirmation?.hash === hash
    return {
      instanceId: instance.id,
      containerName: instance.config.name,
      dangers,
      confirmation,
      isConfirmed,
      changes: confirmation && !isConfirmed ? diffSubjects(confirmation.subject, subject) : [],
      hash,
      subject,
    }
  })
}

/**
 * Confirms what an admin starts in a session, and drops all other confirmations of these instances: a token must not
 * bring back a dangerous configuration that an admin has removed.
 *
 * @param judged the dangerous ones among the instances
 */
export async function storeConfirmations(
  queries: Queries,
  deploymentId: string,
  instances: readonly Startable[],
  judged: readonly Judged[],
  by: { id: string; name: string },
): Promise<void> {
  const dangerous = judged.map(({ instanceId }) => instanceId)
  await Promise.all([
    deleteConfirmations(queries, deploymentId, { of: instances.map(({ id }) => id), except: dangerous }),
    ...judged
      .filter(({ isConfirmed }) => !isConfirmed)
      .map((one) => upsertConfirmation(queries, deploymentId, one, by)),
  ])
}

/** One sentence: what changed since the confirmation, and which users can confirm it now. */
export function unconfirmedText({ containerName, confirmation, changes }: DangerousInstance): string {
  const since = confirmation
    ? `${containerName} changed since ${confirmation.byName} confirmed it on ${confirmation.at.toISOString().slice(0, 10)}: ${listNames(changes)}.`
    : `Nobody has confirmed ${containerName} as it is configured now.`
  return `${since} An admin of the team must start it once, signed in, before a token can.`
}

const toHash = (value: unknown) => createHash('sha256').update(canonicalJson(value)).digest('hex')

const namesShown = 10
function listNames(changes: readonly ConfigChange[]): string {
  const names = changes.map(({ property }) => property)
  const more = names.length - namesShown
  return more > 0 ? `${names.slice(0, namesShown).join(', ')} and ${more} more` : names.join(', ')
}

function toSubject(
  { node, prefix }: LoadedDeployment,
  { config, image }: Startable,
  storageUrls: ReadonlyMap<string, string>,
): Subject {
  const { registryId, reference, tag, localOnly } = image
  return {
    nodeId: node.id,
    prefix,
    image: { registryId, reference, tag, localOnly },
    storageUrl: storageUrls.get(config.storage?.storageId ?? '') ?? null,
    config: inOneOrder(withHashedSecrets(config)),
  }
}

/** Rows with a key mean the same in any order, but layers keep them in the order in which they were typed. */
function inOneOrder(config: FinalContainerConfig): FinalContainerConfig {
  const sorted: Record<string, unknown> = { ...config }
  for (const field of keyedFields) {
    const rows = config[field]
    if (rows) sorted[field] = [...rows].sort((a, b) => (rowKey(a) < rowKey(b) ? -1 : 1))
  }
  return sorted as FinalContainerConfig
}

/** A changed value changes the hash. The encrypted value is not stored a second time. */
function withHashedSecrets(config: FinalContainerConfig): FinalContainerConfig {
  return {
    ...config,
    secrets: config.secrets.map(({ value, ...row }) => ({
      ...row,
      ...(value !== undefined && { value: createHash('sha256').update(value).digest('hex') }),
    })),
  }
}

function diffSubjects(from: Subject, to: Subject): ConfigChange[] {
  const beside: [property: string, from: string | null, to: string | null][] = [
    ['node', from.nodeId, to.nodeId],
    ['prefix', from.prefix, to.prefix],
    ['image', from.image.reference, to.image.reference],
    ['tag', from.image.tag, to.image.tag],
    ['registry', from.image.registryId, to.image.registryId],
    ['storage', from.storageUrl, to.storageUrl],
  ]
  const changes = [
    ...beside.flatMap(([property, old, now]) => (old === now ? [] : [{ property, from: old, to: now }])),
    ...diffConfig(from.config as ContainerConfigFields, to.config),
  ]
  // A setting that diffConfig does not compare still changes the hash.
  return changes.length > 0 ? changes : [{ property: 'configuration' }]
}
