import { randomBytes } from 'node:crypto'
import { testDatabase } from '@crux/postgres'
import { createLogger, parseConfig } from '@crux/service-kit'
import {
  Configuration,
  FrontendApi,
  IdentityApi,
  MetadataApi,
  type SuccessfulNativeRegistration,
} from '@ory/kratos-client'
import { Client } from 'pg'
import { identitySettings } from '../src/config/config.ts'
import { migrateIdentity } from '../src/migrate.ts'
import { type StartOptions, startIdentity } from '../src/start.ts'
import { Browser } from './browser.ts'
import { consoleUrl } from './console-url.ts'
import { type MailServer, startMailServer } from './mail-server.ts'

export { consoleUrl }
export const adminToken = 'a-token-for-the-admin-api'
/** The secret with which the server in front of the service authenticates. */
export const proxySecret = 'a-secret-of-the-server'
/** The headers of a request that the server forwards for a client. */
export const clientAt = (address: string) => ({ 'x-crux-proxy-secret': proxySecret, 'x-forwarded-for': address })
export const goodPassword = 'seven purple Otters 31'

export interface TestIdentity {
  publicUrl: string
  adminUrl: string
  databaseUrl: string
  frontend: FrontendApi
  admin: IdentityApi
  metadata: MetadataApi
  browser(headers?: Record<string, string>): Browser
  sql<T extends Record<string, unknown>>(text: string, values?: unknown[]): Promise<T[]>
  stop(): Promise<void>
}

/** The service with a mail server of its own, so that addresses have to be verified. */
export async function startMailingIdentity(): Promise<{
  identity: TestIdentity
  mailServer: MailServer
  stop: () => Promise<void>
}> {
  const mailServer = await startMailServer()
  const identity = await startTestIdentity({ SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true` })
  return {
    identity,
    mailServer,
    async stop() {
      await identity.stop()
      await mailServer.close()
    },
  }
}

/** The service in this process with a database of its own. Limits are off by default. */
export async function startTestIdentity(
  settings: Record<string, string> = {},
  logTo?: { write(line: string): void },
  overrides: Pick<StartOptions, 'passwords'> = {},
): Promise<TestIdentity> {
  const database = await testDatabase({ key: 'identity', migrate: migrateIdentity })
  const config = parseConfig(identitySettings, {
    DATABASE_URL: database.url,
    CRUX_URL: consoleUrl,
    CRUX_SECRET: randomBytes(24).toString('base64'),
    IDENTITY_PUBLIC_PORT: '0',
    IDENTITY_ADMIN_PORT: '0',
    IDENTITY_ADMIN_TOKEN: adminToken,
    IDENTITY_PROXY_SECRET: proxySecret,
    CRUX_RATE_LIMITS: 'off',
    ...settings,
  })
  const log = createLogger({ name: 'identity', level: logTo ? 'debug' : 'silent', destination: logTo })
  const running = await startIdentity(config, { log, ...overrides })
  const { publicUrl, adminUrl } = running
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const asAdmin = new Configuration({
    basePath: adminUrl,
    baseOptions: { ...quiet, headers: { authorization: `Bearer ${adminToken}` } },
  })
  return {
    publicUrl,
    adminUrl,
    databaseUrl: database.url,
    frontend: new FrontendApi(new Configuration({ basePath: publicUrl, baseOptions: quiet })),
    admin: new IdentityApi(asAdmin),
    metadata: new MetadataApi(asAdmin),
    browser: (headers) => new Browser(publicUrl, headers),
    sql: async (text, values) => (await client.query(text, values)).rows,
    async stop() {
      await client.end()
      await running.stop()
      await database.drop()
    },
  }
}

/** The client returns every answer instead of throwing, because tests check errors, too. */
const quiet = { validateStatus: () => true }

let count = 0
export function makeEmail(): string {
  count += 1
  return `user${count}-${randomBytes(3).toString('hex')}@example.com`
}

export interface TestUser {
  email: string
  id: string
  token: string
  registration: SuccessfulNativeRegistration
}

/** Signs a user up as an API client. */
export async function signUp(identity: TestIdentity, email: string = makeEmail()): Promise<TestUser> {
  const { data: flow } = await identity.frontend.createNativeRegistrationFlow()
  const { data, status } = await identity.frontend.updateRegistrationFlow({
    flow: flow.id,
    updateRegistrationFlowBody: {
      method: 'password',
      password: goodPassword,
      traits: { email, name: { first: 'Ada', last: 'Byron' } },
    },
  })
  if (status !== 200) throw new Error(`the sign-up failed: ${JSON.stringify(data)}`)
  return { email, id: data.identity.id, token: data.session_token ?? '', registration: data }
}
