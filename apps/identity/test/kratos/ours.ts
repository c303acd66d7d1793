import { Browser } from '../browser.ts'
import { adminToken, startTestIdentity, type TestIdentity } from '../identity.ts'
import { startMailServer } from '../mail-server.ts'
import type { Clock } from './clock.ts'
import type { Service } from './service.ts'

/** The Crux identity service in the form that scenarios use. */
export async function startOurs(): Promise<Service & { stop(): Promise<void> }> {
  const mails = await startMailServer()
  const identity = await startTestIdentity({ SMTP_URI: `smtp://127.0.0.1:${mails.port}/?disable_starttls=true` })
  return {
    publicUrl: identity.publicUrl,
    mails,
    clock: createClock(identity),
    browser: (headers) => identity.browser(headers),
    admin: () => new Browser(identity.adminUrl, { authorization: `Bearer ${adminToken}` }),
    async stop() {
      await identity.stop()
      await mails.close()
    },
  }
}

function createClock({ sql }: TestIdentity): Clock {
  return {
    async expireFlow(kind, id) {
      await sql(`update identity.flows set expires_at = now() - interval '1 minute' where kind = $1 and id = $2`, [
        kind,
        id,
      ])
    },
    async expireCodes(_kind, flowId) {
      await sql(`update identity.codes set expires_at = now() - interval '1 minute' where flow_id = $1`, [flowId])
    },
    async expireSession(id) {
      await sql(`update identity.sessions set expires_at = now() - interval '1 minute' where id = $1`, [id])
    },
    async ageSession(id) {
      await sql(`update identity.sessions set authenticated_at = now() - interval '1 hour' where id = $1`, [id])
    },
  }
}
