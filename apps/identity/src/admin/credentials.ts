import type { App } from '../app/app.ts'
import type { Executor } from '../db/executor.ts'
import { badRequest, IdentityError } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { findConfig, removeConfig, saveConfig, saveIdentifiers } from '../identities/credentials.ts'
import type { Person } from '../identities/store.ts'
import { requireAnotherFirstFactor } from '../methods/first-factors.ts'
import { isLinked, type OidcConfig, oidcIdentifier } from '../methods/oidc/links.ts'

/** Deletes a second factor or a link to a provider account. Credentials that sign in alone are kept. */
export async function deleteCredential(app: App, ctx: RequestContext, { identity }: Person): Promise<unknown> {
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
  const config = await findConfig<OidcConfig>(tx, identityId, 'oidc', { lock: true })
  if (identifier === '') throw badRequest('You must provide an identifier to delete this credential.')
  if (!config || !isLinked(config, identifier))
    throw new IdentityError(404, { reason: `The identifier ${identifier} was not found among the OIDC credentials.` })
  await requireAnotherFirstFactor(tx, app, identityId)
  const providers = config.providers.filter((link) => oidcIdentifier(link) !== identifier)
  if (providers.length === 0) return removeConfig(tx, identityId, 'oidc')
  await saveConfig(tx, identityId, 'oidc', { providers })
  await saveIdentifiers(tx, identityId, 'oidc', providers.map(oidcIdentifier))
}
