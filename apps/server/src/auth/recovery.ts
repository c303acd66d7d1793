import type { Body } from '@crux/contract'
import type { App } from '../context.ts'
import type { Browser, FlowAnswer, IdentityFlows } from '../identity/flows.ts'
import { acceptInvitation, requireLiveInvitation } from '../teams/invitations.ts'
import { markRecovered, newSession } from './recovered.ts'
import { type RelayedRequest, relay } from './relay.ts'

/** Where a password is set before anything else can be done. */
const newPasswordPage = '/auth/settings/new-password'

/** Asks for a code, or redeems one: then the browser is signed in and has to set a password. */
export async function recover(
  app: App,
  flows: IdentityFlows,
  request: RelayedRequest,
  body: Body<'auth.recovery'>,
): Promise<unknown> {
  let address: string | undefined
  return relay(
    app,
    request,
    async (browser) => {
      const basis = { method: 'code', csrf_token: body.csrfToken }
      if (!body.code) return flows.recover(body.flow, { ...basis, email: body.email }, browser)
      address = await addressOf(flows, body.flow, browser)
      return flows.recover(body.flow, { ...basis, code: body.code }, browser)
    },
    {
      signsIn: true,
      async agreed({ setCookie }) {
        const cookie = newSession(setCookie)
        if (!cookie) return undefined
        const actor = await app.identity.session({ cookie }, { fresh: true })
        if (actor) {
          await markRecovered(app, actor, cookie)
          return newPasswordPage
        }
        // With a second factor the session shows nothing of itself yet; whose code it was says the address that it went to.
        const account = address && (await app.accounts.findByEmail(address))
        if (account) await app.accounts.markRecovered(account.id)
        return secondFactorPage(newPasswordPage)
      },
    },
  )
}

/**
 * An invitation's code: signs in, asks for a password, joins the team. The cookies are handed out when all of it is done; what fails
 * leaves nobody signed in and the invitation's link as it was.
 */
export async function createAccount(
  app: App,
  flows: IdentityFlows,
  request: RelayedRequest,
  { flow, code, team }: Body<'auth.create-account'>,
): Promise<unknown> {
  return relay(app, request, (browser) => flows.recover(flow, { method: 'code', code }, browser), {
    signsIn: true,
    async agreed({ setCookie }: FlowAnswer) {
      const cookie = newSession(setCookie)
      if (!cookie) return undefined
      const actor = await app.identity.session({ cookie }, { fresh: true })
      if (!actor) return secondFactorPage(`/teams/${team}/invitation`)
      try {
        // A code that is used again must not take the rights of a person who has a password since.
        await requireLiveInvitation(app, actor.id, team)
        await markRecovered(app, actor, cookie)
        await acceptInvitation(app, actor, team)
      } catch (error) {
        await app.accounts
          .undoSignIn(actor.id, actor.sessionId)
          .catch((err: unknown) => app.log.warn({ err, userId: actor.id }, 'a sign-in could not be undone'))
        throw error
      }
      return newPasswordPage
    },
  })
}

const secondFactorPage = (next: string) => `/auth/login?aal=aal2&return_to=${encodeURIComponent(next)}`

/** The form that sends a code again holds the address. */
async function addressOf(flows: IdentityFlows, id: string, browser: Browser): Promise<string | undefined> {
  const { body } = await flows.recoveryFlow(id, browser)
  const { ui } = (body ?? {}) as { ui?: { nodes?: { attributes?: { name?: unknown; value?: unknown } }[] } }
  const value = ui?.nodes?.find(({ attributes }) => attributes?.name === 'email')?.attributes?.value
  return typeof value === 'string' && value !== '' ? value : undefined
}
