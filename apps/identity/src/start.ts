import { createLifecycle, createLogger, type Lifecycle, type Logger } from '@crux/service-kit'
import { createMailTransport } from '@crux/service-kit/mail'
import type { FastifyInstance } from 'fastify'
import { adminGuard, adminRoutes } from './admin/routes.ts'
import type { Limits } from './app/limiter.ts'
import type { PasswordHasher } from './app/services.ts'
import { createCaptcha } from './captcha/verifier.ts'
import { assumesAddresses, type IdentityConfig } from './config/config.ts'
import { deriveKeys } from './crypto/secrets.ts'
import { openIdentityDatabase } from './db/database.ts'
import type { FlowApp } from './flows/offered-methods.ts'
import { startHousekeeping } from './housekeeping.ts'
import { acceptedOrigins } from './http/origin.ts'
import { createServer } from './http/server.ts'
import { resetAssumedVerifications } from './identities/store.ts'
import { createLimiter, noLimits } from './limits/limiter.ts'
import { noOutbox, startOutbox } from './mail/outbox.ts'
import { createProviders } from './methods/oidc/providers.ts'
import { createPasswordHasher } from './methods/password-hash.ts'
import { migrateIdentity } from './migrate.ts'
import { offeredMethods } from './offered-methods.ts'
import { publicRoutes } from './public-routes.ts'

export interface RunningIdentity {
  publicUrl: string
  adminUrl: string
  stop(): Promise<void>
}

export interface StartOptions {
  log?: Logger
  lifecycle?: Lifecycle
  /** The directory of the SQL migrations; by default beside the sources or the bundle. */
  migrationsDirectory?: string
  /** Replaces the password hasher in tests. */
  passwords?: PasswordHasher
}

/**
 * Migrates the database and serves both APIs. Everything that was started is stopped when the start fails.
 *
 * @returns the actual listening addresses: ports may be given as 0
 */
export async function startIdentity(config: IdentityConfig, options: StartOptions = {}): Promise<RunningIdentity> {
  const log = options.log ?? createLogger({ name: 'identity', level: config.LOG_LEVEL })
  const lifecycle = options.lifecycle ?? createLifecycle(log)
  try {
    await migrateIdentity(config.DATABASE_URL, options.migrationsDirectory)
    const app = await compose(config, log, lifecycle, options.passwords ?? (await createPasswordHasher()))
    const housekeeping = startHousekeeping(app)
    lifecycle.onStop('housekeeping', housekeeping.stop)
    const adminUrl = await serve(
      createServer(app, adminRoutes(app), { browsers: false, guard: adminGuard(app), prefix: '/admin' }),
      { host: config.IDENTITY_HOST, port: config.IDENTITY_ADMIN_PORT },
      lifecycle,
    )
    const publicUrl = await serve(
      createServer(app, publicRoutes(app), { browsers: true }),
      { host: config.IDENTITY_HOST, port: config.IDENTITY_PUBLIC_PORT },
      lifecycle,
    )
    return { publicUrl, adminUrl, stop: lifecycle.stop }
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

async function compose(
  config: IdentityConfig,
  log: Logger,
  lifecycle: Lifecycle,
  passwords: PasswordHasher,
): Promise<FlowApp> {
  const database = openIdentityDatabase({ url: config.DATABASE_URL, name: 'crux identity', log })
  lifecycle.onStop('database', () => database.close())
  const assumes = assumesAddresses(config)
  // An address that was assumed while only this machine could connect is not proven for an installation that other machines reach.
  if (!assumes) await resetAssumedVerifications(database.db)
  const keys = deriveKeys(config.CRUX_SECRET)
  const transport = createMailTransport({
    smtpUri: config.SMTP_URI,
    from: { name: config.FROM_NAME, address: config.FROM_EMAIL ?? `crux@${new URL(config.CRUX_URL).hostname}` },
    keepIn: config.CRUX_MAILS_DIR,
  })
  const outbox = transport ? startOutbox(database, transport, log) : noOutbox
  lifecycle.onStop('outbox', () => outbox.stop())
  if (!config.SMTP_URI) {
    const mails = config.CRUX_MAILS_DIR ? `mails are kept in ${config.CRUX_MAILS_DIR}` : 'no mail is sent'
    const addresses = assumes
      ? 'and every e-mail address counts as verified'
      : 'and e-mail addresses stay unverified, because others can reach this Crux: nobody accepts an invitation or joins by an allowed domain. Set SMTP_URI'
    log.warn(`SMTP_URI is not set: ${mails}, ${addresses}`)
  }
  const limited = config.CRUX_RATE_LIMITS === 'on'
  if (!limited) log.warn('CRUX_RATE_LIMITS is off: passwords can be guessed without limit')
  return {
    config,
    publicUrl: `${config.CRUX_URL}/kratos`,
    consoleUrl: config.CRUX_URL,
    acceptedOrigins: acceptedOrigins(config.CRUX_URL),
    verifiesAddresses: config.SMTP_URI !== undefined,
    assumesAddresses: assumes,
    sendsMail: transport !== undefined,
    database,
    keys,
    passwords,
    limiter: limited ? createLimiter(database.pool, keys, toLimits(config)) : noLimits,
    outbox,
    providers: await createProviders(config, log),
    captcha: createCaptcha(config, log),
    methods: offeredMethods,
    log,
  }
}

function toLimits(config: IdentityConfig): Limits {
  return {
    account: config.RATE_LIMIT_ACCOUNT,
    accountTotal: config.RATE_LIMIT_ACCOUNT_TOTAL,
    codes: config.RATE_LIMIT_CODES,
    client: config.RATE_LIMIT_CLIENT,
    resend: config.RATE_LIMIT_RESEND,
    mails: config.RATE_LIMIT_MAILS,
    captcha: config.RATE_LIMIT_CAPTCHA,
  }
}

async function serve(
  server: FastifyInstance,
  at: { host: string; port: number },
  lifecycle: Lifecycle,
): Promise<string> {
  lifecycle.onStop('http', () => server.close())
  await server.listen(at)
  const [bound] = server.addresses()
  if (typeof bound !== 'object') throw new Error('the server does not listen')
  const { address, port, family } = bound
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
