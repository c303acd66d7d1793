import { randomBytes } from 'node:crypto'
import { CruxError, type HookKind, type ResponseInput } from '@crux/contract'
import { offeredHookKinds } from '@crux/rules'
import { type Caller, hashToken, type TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { newId } from '../db/new-id.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordEvent } from '../system/index.ts'
import { findRegistry } from './actions.ts'
import * as store from './hook-store.ts'
import { findRegistryToken } from './hook-token.ts'
import { lockRegistryRow } from './store.ts'

export async function listHooks(
  app: App,
  { team }: Caller,
  registryId: string,
): Promise<ResponseInput<'registries.list-hooks'>> {
  await findRegistry(app, team, registryId)
  const [token, hooks] = await Promise.all([
    findRegistryToken(app, team, registryId),
    store.selectHooks(app.database.pool, registryId),
  ])
  const people = await app.identity.people(hooks.map(({ createdBy }) => createdBy))
  return [
    ...(token ? [{ kind: 'v2' as const, createdAt: token.createdAt, createdBy: token.createdBy }] : []),
    ...hooks.map((hook) => ({ ...hook, createdBy: people.get(hook.createdBy)?.name ?? 'Unknown user' })),
  ]
}

/**
 * Creates the secret of a hook. GitHub signs with it, so it is stored encrypted; the other services send it, so only its
 * hash is stored.
 *
 * @throws CruxError notFound `registryId`, invalidArgument `kind`, alreadyExists `kind`
 */
export async function createHookSecret(
  app: App,
  { team, actor }: Caller,
  registryId: string,
  kind: HookKind,
): Promise<ResponseInput<'registries.create-hook-secret'>> {
  const registry = await findRegistry(app, team, registryId)
  if (kind === 'v2' || !offeredHookKinds(registry).includes(kind)) throw notOffered(kind)
  const secret = randomBytes(32).toString('base64url')
  const { createdAt } = await inTransaction(app.database, async (queries) => {
    await lockRegistry(queries, team, registryId)
    if ((await store.selectHooks(queries, registryId)).some((hook) => hook.kind === kind))
      throw new CruxError('alreadyExists', {
        property: 'kind',
        value: kind,
        description: 'This hook already has a secret: delete it first.',
      })
    const id = await newId(queries)
    const stored =
      kind === 'github'
        ? { hash: null, secret: app.cipher.encrypt(secret, { column: 'registry_hook.secret', row: id }) }
        : { hash: hashToken(secret), secret: null }
    return store.insertHook(queries, { id, registryId, kind, ...stored, createdBy: actor.id })
  })
  recordEvent(app, { teamId: team.id, registryId, kind }, 'registry hook secret created')
  return { kind, createdAt, createdBy: actor.name, url: toUrl(app, team, registryId, kind, secret), secret }
}

/** @throws CruxError notFound `kind` */
export async function deleteHookSecret(app: App, { team }: Caller, registryId: string, kind: HookKind): Promise<void> {
  await findRegistry(app, team, registryId)
  if (!(await store.deleteHook(app.database.pool, registryId, kind)))
    throw new CruxError('notFound', { property: 'kind', value: kind })
  recordEvent(app, { teamId: team.id, registryId, kind }, 'registry hook secret deleted')
}

function toUrl(app: App, team: TeamContext, registryId: string, kind: HookKind, secret: string): string {
  const url = `${app.config.url}/api/${team.slug}/registries/${registryId}/hooks/${kind}`
  // Docker Hub sends neither a header nor a signature.
  return kind === 'hub' ? `${url}/${secret}` : url
}

async function lockRegistry(queries: Queries, team: TeamContext, registryId: string): Promise<void> {
  if (!(await lockRegistryRow(queries, team.id, registryId)))
    throw new CruxError('notFound', { property: 'registryId', value: registryId })
}

const notOffered = (kind: HookKind) =>
  new CruxError('invalidArgument', {
    property: 'kind',
    value: kind,
    description:
      kind === 'v2'
        ? "Hooks of the kind v2 use the registry's token: create that instead."
        : 'Registries of this type send no deliveries of this kind.',
  })
