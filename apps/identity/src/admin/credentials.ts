import type { App } from '../app/app.ts'
import type { Executor } from '../db/database.ts'
import { badRequest, IdentityError } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { findConfig, removeConfig } from '../identities/credentials.ts'
import type { User } from '../identities/store.ts'
import { requireAnotherFirstFactor } from '../methods/first-factors.ts'
import { findLinks, oidcIdentifier, saveLinks } from '../methods/oidc/links.ts'

/** Deletes a second factor or a link to a provider account. Credentials that sign in alone are kept. */
export async function deleteCredential(app: App, ctx: RequestContext, identity: User): Promise<unknown> {
  const type = ctx.param('type')
  const identifier = ctx.query('identifier') ?? ''
  if (type === 'password' || type === 'code') throw badRequest('You cannot remove first factor credentials.')
  await app.database.transaction(async (tx) => {
    const config = await findConfig(tx, identity.id, type, { lock: true })
    if (!config)
      throw new IdentityError(404, { reason: `You tried to remove a ${type} but this user has no ${type} set up.` })
    if (type === 'passkey') throw badRequest('You cannot remove first factor credentials.')
    if (type === 'oidc') await unlink(tx, app, identity.id, identifier)
    else await removeConfig(tx, identity.id, type)
  })
  return ctx.reply.code(204).send()
}

async function unlink(tx: Executor, app: App, identityId: string, identifier: string) {
  const links = await findLinks(tx, identityId, { lock: true })
  if (identifier === '') throw badRequest('You must provide an identifier to delete this credential.')
  const others = links.filter((link) => oidcIdentifier(link) !== identifier)
  if (others.length === links.length)
    throw new IdentityError(404, { reason: `The identifier ${identifier} was not found among the OIDC credentials.` })
  await requireAnotherFirstFactor(tx, app, identityId)
  await saveLinks(tx, identityId, others)
}
