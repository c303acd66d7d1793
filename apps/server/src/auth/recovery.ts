import type { Body } from '@crux/contract'
import type { App } from '../context.ts'
import type { FlowAnswer, IdentityFlows } from '../identity/index.ts'
import { acceptInvitation, requireLiveInvitation } from '../teams/index.ts'
import { newSession } from './recovered.ts'
import { type RelayedRequest, relay, submit, toCaptcha } from './relay.ts'

/** The page where a password is set before anything else is possible. */
const newPasswordPage = '/auth/settings/new-password'

/** Requests a code, or redeems one: then the browser is signed in and has to set a password. */
export function recover(
  app: App,
  flows: IdentityFlows,
  form: RelayedRequest & { body: Body<'auth.recovery'> },
): Promise<unknown> {
  const { code, email } = form.body
  const asked = code ? { code } : { email, ...toCaptcha(form.body) }
  return submit(
    app,
    flows.recover,
    form,
    { method: 'code', ...asked },
    {
      signsIn: true,
      async agreed({ setCookie }) {
        const cookie = newSession(setCookie)
        if (!cookie) return undefined
        // With a second factor the session is not readable yet.
        const actor = await app.identity.session({ cookie })
        return actor ? newPasswordPage : secondFactorPage(newPasswordPage)
      },
    },
  )
}

/**
 * Redeems an invitation's code: signs in, requires a password, joins the team. The cookies are sent when all of it is
 * done. After a failure the browser is not signed in and the invitation's link still works.
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
      const actor = await app.identity.session({ cookie })
      if (!actor) return secondFactorPage(`/teams/${team}/invitation`)
      try {
        // A code that is used again must not take the rights of a user who has set a password since.
        await requireLiveInvitation(app, actor.id, team)
        await acceptInvitation(app, actor, team, { cameByMail: true })
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
