import type { App } from '../app/app.ts'
import { violatedUniqueConstraint } from '../db/database.ts'
import { isObject } from '../http/body.ts'
import { badRequest, IdentityError } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { insertUser, type User } from '../identities/store.ts'
import { type IdentityBody, parseJson, readIdentityBody } from './identity-body.ts'

/** @throws IdentityError 409 with `conflict` as its reason when another identity has the address */
export async function makeIdentity(app: App, body: IdentityBody, conflict?: string): Promise<User> {
  const passwordHash = await toHash(app, body)
  return orConflict(
    app.database.transaction((tx) =>
      insertUser(tx, { ...body, passwordHash, verified: body.verified ?? (app.assumesAddresses && 'assumed') }),
    ),
    conflict,
  )
}

const batchSizeMax = 1_000

/** Creates many identities independently: an error of one is reported at its index in the answer and does not affect the others. */
export async function makeIdentities(app: App, ctx: RequestContext): Promise<unknown> {
  const body = parseJson(ctx.request.body)
  const entries = isObject(body) ? (body.identities ?? []) : undefined
  if (!Array.isArray(entries)) throw badRequest('The body must be an object with a list of identities.')
  if (entries.length > batchSizeMax) throw badRequest(`At most ${batchSizeMax} identities can be made at once.`)
  const identities: unknown[] = []
  for (const entry of entries) identities.push(await makeOneOf(app, entry))
  return ctx.reply.send({ identities })
}

async function makeOneOf(app: App, entry: unknown): Promise<unknown> {
  if (!isObject(entry) || entry.create === undefined || entry.create === null) return null
  const named = typeof entry.patch_id === 'string' ? { patch_id: entry.patch_id } : {}
  try {
    const { id } = await makeIdentity(app, readIdentityBody(entry.create, { strict: true }))
    return { action: 'create', identity: id, ...named }
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error
    return { action: 'error', ...named, ...error.toBody() }
  }
}

export async function toHash(app: App, { password }: IdentityBody): Promise<string | undefined> {
  if (!password) return undefined
  return 'hash' in password ? password.hash : app.passwords.hash(password.clear)
}

export async function orConflict<T>(work: Promise<T>, reason?: string): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (violatedUniqueConstraint(cause) === undefined) throw cause
    throw new IdentityError(409, { cause, ...(reason === undefined ? {} : { reason }) })
  }
}
