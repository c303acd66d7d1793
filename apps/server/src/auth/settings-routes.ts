import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { Browser, IdentityFlows } from '../identity/index.ts'
import { revokeTokensOfUser } from '../tokens/index.ts'
import { finishRecovery } from './recovered.ts'
import { submit, toTraits } from './relay.ts'

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
    'auth.edit-profile': ({ actor, ...form }) =>
      submit(
        app,
        flows.settings,
        form,
        { method: 'profile', traits: toTraits(form.body) },
        {
          async agreed() {
            app.bus.publish({ type: 'user.changed', userId: actor.id, sessionId: actor.sessionId })
          },
        },
      ),
    'auth.change-password': ({ actor, ...form }) =>
      submit(
        app,
        flows.settings,
        form,
        { method: 'password', password: form.body.password },
        {
          async agreed(_answer, browser) {
            const { revokeTokens, signOutOthers } = form.body
            const { address, userAgent = '' } = browser
            await finishRecovery(app, actor)
            if (revokeTokens) await revokeTokensOfUser(app, actor.id, { requester: { address, userAgent } })
            if (signOutOthers) await endOtherSessions(browser)
          },
        },
      ),
    'auth.link-provider': (form) => submit(app, flows.settings, form, { method: 'oidc', link: form.body.provider }),
    'auth.unlink-provider': (form) => submit(app, flows.settings, form, { method: 'oidc', unlink: form.body.provider }),
  }
}
