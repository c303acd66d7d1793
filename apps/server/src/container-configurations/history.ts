import {
  type Body,
  type ContainerConfigField,
  ContainerConfigFields,
  type ContainerConfigPatch,
  CruxError,
  containerConfigFieldNames,
  type ResponseInput,
} from '@crux/contract'
import { isMarkerField, markerSections } from '@crux/rules'
import { getField } from '@crux/service-kit'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { changeConfig, getConfig, publishChange } from './actions.ts'
import { type RevisionRow, selectRevision, selectRevisions } from './revision-store.ts'
import { findConfig } from './store.ts'

type Revision = ResponseInput<'container-configurations.history'>['items'][number]

export async function listHistory(
  app: App,
  { team }: Caller,
  configId: string,
  page: { skip: number; take: number },
): Promise<ResponseInput<'container-configurations.history'>> {
  await getConfig(app, team, configId)
  const { rows, total } = await selectRevisions(app.database.pool, configId, page)
  return { items: await toRevisions(app, rows), total }
}

/** @throws CruxError notFound `configId` or `revision` */
export async function getRevision(
  app: App,
  { team }: Caller,
  configId: string,
  revision: number,
): Promise<ResponseInput<'container-configurations.get-revision'>> {
  await getConfig(app, team, configId)
  const row = await selectRevision(app.database.pool, configId, revision)
  const [shown] = row ? await toRevisions(app, [row]) : []
  if (!row || !shown) throw revisionNotFound(revision)
  return { ...shown, config: ContainerConfigFields.parse(row.fields) }
}

/**
 * Restores an earlier state as a new change, under the rules of every change. Secrets stay unchanged, because the
 * history has no values of them.
 */
export async function restoreRevision(
  app: App,
  caller: Caller,
  configId: string,
  wanted: { revision: number; seen: number | undefined },
): Promise<void> {
  const outcome = await inTransaction(app.database, (queries) =>
    changeConfig(queries, caller, configId, async () => {
      const row = await selectRevision(queries, configId, wanted.revision)
      if (!row) throw revisionNotFound(wanted.revision)
      const target = ContainerConfigFields.parse(row.fields)
      const fields = containerConfigFieldNames.filter((field) => field !== 'secrets')
      return withSeen({ config: createPatch(target, fields) }, wanted.seen)
    }),
  )
  publishChange(app, outcome)
}

/**
 * Copies settings of another configuration of the team, as a change of this one. A named setting is copied even if it
 * is not set there; without names, everything that is set there is copied. Of secrets only the keys that are missing
 * here are copied.
 */
export async function copyConfig(
  app: App,
  caller: Caller,
  configId: string,
  body: Body<'container-configurations.copy'>,
): Promise<void> {
  const outcome = await inTransaction(app.database, (queries) =>
    changeConfig(queries, caller, configId, async (before) => {
      const source = await findConfig(queries, caller.team.id, body.fromConfigId)
      if (!source) throw new CruxError('notFound', { property: 'fromConfigId', value: body.fromConfigId })
      const target = ContainerConfigFields.parse(source.row.fields)
      const named = body.fields && new Set(body.fields)
      const wanted = containerConfigFieldNames.filter((field) => (named ? named.has(field) : isSet(target[field])))
      const config = createPatch(
        target,
        wanted.filter((field) => field !== 'secrets'),
      )
      if (wanted.includes('secrets')) config.secrets = withKeys(before.secrets, target.secrets)
      return withSeen({ config }, body.revision)
    }),
  )
  publishChange(app, outcome)
}

const withSeen = (patch: ContainerConfigPatch, seen: number | undefined): ContainerConfigPatch =>
  seen === undefined ? patch : { ...patch, revision: seen }

/** A patch that sets these fields to their values in `target`; a patch merges markers by section, so each section is named. */
function createPatch(
  target: ContainerConfigFields,
  fields: readonly ContainerConfigField[],
): NonNullable<ContainerConfigPatch['config']> {
  return Object.fromEntries(
    fields.map((field) => {
      const value = target[field] ?? null
      if (!isMarkerField(field) || value === null) return [field, value]
      return [field, Object.fromEntries(markerSections.map((section) => [section, getField(value, section) ?? null]))]
    }),
  )
}

type Secrets = ContainerConfigFields['secrets']

function withKeys(own: Secrets, other: Secrets): NonNullable<Secrets> {
  const known = new Set((own ?? []).map((row) => row.key))
  const added = (other ?? []).filter((row) => !known.has(row.key))
  return [
    ...(own ?? []),
    ...added.map(({ key, required, generate }) => ({ key, required, ...(generate && { generate }) })),
  ]
}

const isSet = (value: unknown) => value !== null && value !== undefined

async function toRevisions(app: App, rows: readonly RevisionRow[]): Promise<Revision[]> {
  const people = await app.identity.people(rows.map((row) => row.updatedBy).filter((id) => id !== ''))
  return rows.map(({ updatedBy, ...row }) => ({
    ...row,
    updatedBy: updatedBy === '' ? null : { id: updatedBy, name: people.get(updatedBy)?.name ?? 'Unknown user' },
  }))
}

const revisionNotFound = (revision: number) => new CruxError('notFound', { property: 'revision', value: revision })
