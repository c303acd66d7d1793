import { randomBytes } from 'node:crypto'
import { identitySettings, startIdentity } from '@crux/identity'
import { createLogger, parseConfig } from '@crux/service-kit'
import { createIdentity } from '../../src/identity/identity.ts'
import { serverDatabase, startTestServer } from './index.ts'

/**
 * The server with the real identity service, without limits.
 *
 * @param options.people true: sessions are those of the kit; the identity service only answers relayed requests
 */
export async function startServerAndIdentity(options: { people?: boolean } = {}) {
  const database = await serverDatabase()
  const log = createLogger({ name: 'test', level: 'fatal' })
  const adminToken = randomBytes(16).toString('hex')
  const identity = await startIdentity(
    parseConfig(identitySettings, {
      DATABASE_URL: database.url,
      CRUX_URL: 'http://localhost:1',
      CRUX_SECRET: randomBytes(16).toString('hex'),
      IDENTITY_PUBLIC_PORT: '0',
      IDENTITY_ADMIN_PORT: '0',
      IDENTITY_ADMIN_TOKEN: adminToken,
      CRUX_RATE_LIMITS: 'off',
      LOG_LEVEL: 'fatal',
    }),
    { log },
  )
  const { publicUrl, adminUrl } = identity
  const crux = await startTestServer({
    database,
    config: { identityPublicUrl: publicUrl, identityAdminUrl: adminUrl, identityAdminToken: adminToken },
    ...(!options.people && {
      overrides: {
        identity: (bus) => createIdentity({ publicUrl, proxySecret: undefined, adminUrl, adminToken, bus, log }),
      },
    }),
  })
  return {
    crux,
    async stop() {
      await identity.stop()
      await crux.stop()
    },
  }
}
