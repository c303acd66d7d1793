import type { App } from '../context.ts'
import { isUuid } from '../db/ids.ts'
import { IdentityError, malformedUuid, noCredentials } from '../http/errors.ts'
import { linkHeader, readOffsetPage } from '../http/pages.ts'
import type { Routes } from '../http/routes.ts'
import type { Visit } from '../http/visit.ts'
import { showBareIdentity } from '../identities/wire.ts'
import { requireHighestAal } from './aal.ts'
import { currentSession, type Signed } from './credentials.ts'
import { endSessions, listSessions as findSessions } from './store.ts'
import { exchangeToken } from './token-exchange.ts'
import { tokenizeSession } from './tokenize.ts'
import { showBareSession, showDevice, showSession } from './wire.ts'

/** What a signed-in person can do with sessions. */
export function sessionRoutes(app: App): Routes {
  return {
    '/sessions/whoami': { any: (visit) => whoami(app, visit) },
    '/sessions': { GET: (visit) => listSessions(app, visit), DELETE: (visit) => endOthers(app, visit) },
    '/sessions/token-exchange': { GET: (visit) => exchangeToken(app, visit) },
    '/sessions/:id': { DELETE: (visit) => endOne(app, visit) },
  }
}

async function whoami(app: App, visit: Visit): Promise<unknown> {
  const current = await currentSession(app, visit)
  if (!current) throw noCredentials('No valid session credentials found in the request.')
  requireHighestAal(app, current)
  const template = visit.query('tokenize_as')
  const tokenized = template ? { tokenized: await tokenizeSession(app, current, template) } : {}
  visit.reply.header('x-kratos-authenticated-identity-id', current.person.identity.id)
  return visit.reply.send({ ...showSession(current, app), ...tokenized })
}

async function listSessions(app: App, visit: Visit): Promise<unknown> {
  const current = await requireSession(app, visit)
  const page = readOffsetPage(visit)
  const { entries, total } = await findSessions(
    app.database,
    { identityId: current.session.identityId, except: current.session.id, active: true },
    page,
  )
  visit.reply.header('link', linkHeader(visit, page, total)).header('x-total-count', total)
  return visit.reply.send(
    entries.map(({ session, devices }) => ({
      ...showBareSession(session, app),
      identity: showBareIdentity(current.person.identity, ''),
      devices: devices.map(showDevice),
    })),
  )
}

async function endOthers(app: App, visit: Visit): Promise<unknown> {
  const { session } = await requireSession(app, visit)
  const count = await app.database.transaction((tx) =>
    endSessions(tx, { ofIdentity: session.identityId, except: session.id }),
  )
  return visit.reply.send({ count })
}

/** Ends another session of the same person; says nothing of sessions that are not theirs. */
async function endOne(app: App, visit: Visit): Promise<unknown> {
  const { session } = await requireSession(app, visit)
  const { id } = visit.request.params as { id: string }
  if (!isUuid(id)) throw malformedUuid(id)
  if (id.toLowerCase() === session.id) throw new IdentityError(400, { message: 'cannot revoke current session' })
  await app.database.transaction((tx) => endSessions(tx, { id, ofIdentity: session.identityId }))
  return visit.reply.code(204).send()
}

async function requireSession(app: App, visit: Visit): Promise<Signed> {
  const current = await currentSession(app, visit)
  if (!current) throw noCredentials('No valid session cookie found.')
  return current
}
