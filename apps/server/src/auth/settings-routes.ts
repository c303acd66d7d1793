import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { Browser, IdentityFlows } from '../identity/index.ts'
import { revokeTokensOfPerson } from '../tokens/index.ts'
import { finishRecovery } from './recovered.ts'
import { relay } from './relay.ts'

type SettingsOperation = 'auth.edit-profile' | 'auth.change-password' | 'auth.link-provider' | 'auth.unlink-provider'

/**
 * Handles the forms of the settings pages. A session that is too old for a change is refused with 403, and the answer's
 * `redirect_browser_to` leads to the page that confirms it.
 */
export function settingsRoutes(app: App, flows: IdentityFlows): Handlers<SettingsOperation> {
  async function endOtherSessions(browser: Browser) {
    const { status } = await flows.endOtherSessions(browser)
    if (status >= 300)
      throw new CruxError('serviceUnavailable', {
        property: 'signOutOthers',
        description: 'The password is changed, but your other sessions could not be ended. End them under Sessions.',
      })
  }

  return {
    'auth.edit-profile': ({ body, actor, ...request }) =>
      relay(
        app,
        request,
        (browser) =>
          flows.settings(
            body.flow,
            {
              method: 'profile',
              csrf_token: body.csrfToken,
              traits: { email: body.email, name: { first: body.firstName, last: body.lastName || undefined } },
            },
            browser,
          ),
        {
          async agreed() {
            app.bus.publish({ type: 'person.changed', userId: actor.id, sessionId: actor.sessionId })
          },
        },
      ),
    'auth.change-password': ({ body, actor, ...request }) =>
      relay(
        app,
        request,
        (browser) =>
          flows.settings(
            body.flow,
            { method: 'password', csrf_token: body.csrfToken, password: body.password },
            browser,
          ),
        {
          async agreed(_answer, browser) {
            await finishRecovery(app, actor)
            if (body.revokeTokens)
              await revokeTokensOfPerson(app, actor.id, {
                requester: { address: browser.address, userAgent: browser.userAgent ?? '' },
              })
            if (body.signOutOthers) await endOtherSessions(browser)
          },
        },
      ),
    'auth.link-provider': ({ body, ...request }) =>
      relay(app, request, (browser) =>
        flows.settings(body.flow, { method: 'oidc', csrf_token: body.csrfToken, link: body.provider }, browser),
      ),
    'auth.unlink-provider': ({ body, ...request }) =>
      relay(app, request, (browser) =>
        flows.settings(body.flow, { method: 'oidc', csrf_token: body.csrfToken, unlink: body.provider }, browser),
      ),
  }
}
