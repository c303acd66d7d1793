import {
  createLifecycle,
  createLogger,
  createMetrics,
  createOutbound,
  type Lifecycle,
  type Logger,
  type Outbound,
  onUnhandledError,
} from '@crux/service-kit'
import { createMailTransport } from '@crux/service-kit/mail'
import {
  type AuthServices,
  createAuthentication,
  createFailedChecks,
  createGuard,
  createMembership,
  createPipelineHooks,
  createRegistryHooks,
} from './access/index.ts'
import { serverVersion } from './agent-links/index.ts'
import { keepAuditLog, recordAudit } from './audit-log/index.ts'
import { settingsPassed } from './auth/index.ts'
import { type Bus, createPostgresBus } from './bus/index.ts'
import { composeChannels, composeRoutes } from './compose.ts'
import { acceptedOrigins, type Config, localUrl } from './config/index.ts'
import type { App } from './context.ts'
import { createCipher } from './crypto/index.ts'
import { openServerDatabase } from './db/open-database.ts'
import { createFollowing } from './following/index.ts'
import { createGateway, createNodeLinks } from './gateway/index.ts'
import {
  createHostCheck,
  createHttpServer,
  kratosProxy,
  mountContract,
  reloadCertificate,
  serveConsole,
  systemRoutes,
} from './http/index.ts'
import { type Accounts, createAccounts, createIdentity, type Identity } from './identity/index.ts'
import { createJobs } from './jobs/index.ts'
import { createLiveHub } from './live/index.ts'
import { migrateServer } from './migrate.ts'
import { createLocalAgents, createReachability, deleteEventsOfNodes } from './nodes/index.ts'
import { cleanDeliveries, createSender, notify, type Sender } from './notifications/index.ts'
import { finishPromotion } from './packages/index.ts'
import { createPipelineWork, startWatchedRuns } from './pipelines/index.ts'
import { consoleDirectory } from './places.ts'
import { cleanDeliveryKeys, createBrowser } from './registries/index.ts'
import { createDeploymentWork, deleteEventsOfReleases } from './releases/index.ts'
import {
  checkIdentity,
  createServerHealth,
  createStatus,
  registerGauges,
  scheduleEventRetention,
} from './system/index.ts'
import { handleTeamEvents } from './team-events/index.ts'
import { handleInvitationMails } from './teams/index.ts'
import { handleSecurityReports, revokeTokensOfUser, withAccountNames } from './tokens/index.ts'

export type Overrides = {
  log?: Logger
  /** Replaces the client of the identity service in tests; the service's contract tests verify the other side. */
  identity?: (bus: Bus) => Identity
  accounts?: Accounts
  outbound?: Outbound
  /** The clock of the leases. */
  now?: () => Date
  consoleDirectory?: string
}
export type RunningServer = {
  url: string
  port: number
  app: App
  deployments: ReturnType<typeof createDeploymentWork>
  stop(): Promise<void>
}

/** How long open requests may take to end once the server stops. */
const drainMs = 1_500

/** Migrates, composes and listens. All state belongs to the returned object, so that several servers can run in one process. */
export async function startServer(given: Config, overrides: Overrides = {}): Promise<RunningServer> {
  const config = { ...given }
  const log = overrides.log ?? createLogger({ name: 'server', level: config.logLevel })
  const lifecycle = createLifecycle(log)
  try {
    return await start(config, overrides, log, lifecycle)
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

async function start(config: Config, overrides: Overrides, log: Logger, lifecycle: Lifecycle): Promise<RunningServer> {
  const lastMigration = await migrateServer(config.databaseUrl)
  const { app, bus, links, refusedPorts } = openApp(config, overrides, log, lifecycle)
  countUnhandledErrors(app, lifecycle)
  const version = serverVersion
  const health = createServerHealth(app, {
    version,
    lastMigration,
    checks: { bus: bus.check, ...(!overrides.identity && { identity: () => checkIdentity(config.identityPublicUrl) }) },
  })
  const status = createStatus(app, { version, lastMigration })
  const authServices = createAuthServices(app)
  if (!config.rateLimits) log.warn('CRUX_RATE_LIMITS is off: tokens can be guessed without limit')
  let origins: ReadonlySet<string> = new Set()
  const url = () => config.url

  const deployments = createDeploymentWork(app, overrides.now)
  const gateway = createGateway(app, links, deployments.port)
  const localAgents = createLocalAgents(app)
  const browser = createBrowser(app)
  const following = createFollowing(app)
  const reachability = createReachability(app)
  const sender = createSender(app)
  const pipelines = createPipelineWork(app)
  const hosts = createHostCheck(config, () => config)
  const http = createHttpServer(app, { url, hosts, grpc: gateway.listener(), watch: gateway.watch })
  const { fastify } = http
  systemRoutes(fastify, { health, metrics: app.metrics, metricsToken: config.metricsToken, url, version })
  kratosProxy(fastify, {
    publicUrl: config.identityPublicUrl,
    proxySecret: config.identityProxySecret,
    url,
    settingsPassed: (cookie) => settingsPassed(app, cookie),
  })
  mountContract(fastify, {
    guard: createGuard(authServices, () => origins),
    handlers: composeRoutes(app, { browser, following, sender, localAgents, health, status }),
    recordAudit: (entry) => recordAudit(app, entry),
  })
  serveConsole(fastify, overrides.consoleDirectory ?? consoleDirectory)
  const hub = createLiveHub(app, {
    ...authServices,
    channels: composeChannels(app, { browser }),
    origins: () => origins,
    hosts,
  })
  hub.attach(http.port.server)

  declareJobs(app, sender)
  app.jobs.schedule('rate-limits-clean', '41 * * * *', () => authServices.failedChecks.clean())

  await bus.ready
  await gateway.start()
  await app.jobs.start()
  await fastify.listen({ host: config.host, port: config.port })
  settlePort(config, http.listeningPort())
  origins = acceptedOrigins(config)
  refusedPorts.push(...ownPorts(config))
  await deployments.start()
  lifecycle.onStop('deployments', () => deployments.stop())
  for (const [name, rounds] of Object.entries({ following, reachability, notifications: sender, pipelines })) {
    rounds.start()
    lifecycle.onStop(name, () => rounds.stop())
  }
  lifecycle.onStop('certificate', reloadCertificate(http.port.server, config.tls, log))
  lifecycle.onStop('http', () => http.stop(drainMs))
  lifecycle.onStop('gateway', () => gateway.stop())
  lifecycle.onStop('live', () => hub.stop())
  await localAgents.start()
  lifecycle.onStop('local agents', () => localAgents.stop())
  return { url: config.url, port: config.port, app, deployments, stop: () => lifecycle.stop() }
}

function declareJobs(app: App, sender: Sender): void {
  handleTeamEvents(app, [
    (event) => finishPromotion(app, event),
    (event) => startWatchedRuns(app, event),
    (event) => notify(app, sender, event),
  ])
  handleInvitationMails(app)
  handleSecurityReports(app)
  keepAuditLog(app)
  scheduleEventRetention(app, { deployment: deleteEventsOfReleases, node: deleteEventsOfNodes })
  cleanDeliveryKeys(app)
  cleanDeliveries(app)
}

/** The parts of the process that every domain uses. Each is closed when the lifecycle stops. */
function openApp(config: Config, overrides: Overrides, log: Logger, lifecycle: Lifecycle) {
  const database = openServerDatabase({ url: config.databaseUrl, name: 'crux server', max: 16, log })
  lifecycle.onStop('database', () => database.close())
  const bus = createPostgresBus({ url: config.databaseUrl, database, log })
  lifecycle.onStop('bus', () => bus.stop())
  const jobs = createJobs({ url: config.databaseUrl, database, log })
  lifecycle.onStop('jobs', () => jobs.stop())

  const mail = createMailTransport({ smtpUri: config.smtpUri, from: config.mailFrom, keepIn: config.mails?.directory })
  lifecycle.onStop('mail', () => mail?.close())

  const refusedPorts: number[] = []
  const links = createNodeLinks({ database, log })
  const app: App = {
    config,
    log,
    database,
    bus: bus.bus,
    cipher: createCipher(config.encryption),
    outbound: overrides.outbound ?? createOutbound({ allow: config.outboundAllow, refusedPorts, log }),
    identity: withAccountNames(
      overrides.identity?.(bus.bus) ??
        createIdentity({
          publicUrl: config.identityPublicUrl,
          proxySecret: config.identityProxySecret,
          adminUrl: config.identityAdminUrl,
          adminToken: config.identityAdminToken,
          bus: bus.bus,
          log,
        }),
      { database, bus: bus.bus, log },
    ),
    accounts:
      overrides.accounts ??
      createAccounts({ adminUrl: config.identityAdminUrl, adminToken: config.identityAdminToken, log }),
    mail,
    jobs,
    metrics: createMetrics({ prefix: 'crux_' }),
    links,
  }
  registerGauges(app)
  return { app, bus, links, refusedPorts }
}

function createAuthServices(app: App): AuthServices {
  const authentication = createAuthentication(app, {
    revokeTokens: (userId, before) => revokeTokensOfUser(app, userId, { before }),
  })
  return {
    authentication,
    failedChecks: createFailedChecks(app),
    membership: createMembership(app),
    registryHooks: createRegistryHooks(app, authentication),
    pipelineHooks: createPipelineHooks(app),
  }
}

function countUnhandledErrors({ metrics }: App, lifecycle: Lifecycle): void {
  const unhandled = metrics.counter({
    name: 'unhandled_errors_total',
    help: 'Errors that reached no caller, by the place of the callback that threw.',
    labelNames: ['where'],
  })
  lifecycle.onStop(
    'unhandled errors',
    onUnhandledError(({ where }) => unhandled.inc({ where })),
  )
}

/** Port 0 is resolved only now; the default address depends on it. */
function settlePort(config: Config, port: number) {
  if (config.url === localUrl(config.port, config.tls !== undefined))
    config.url = localUrl(port, config.tls !== undefined)
  config.port = port
}

/** The ports of this machine that a request to a user-supplied address must not reach, because our own services listen there. */
function ownPorts(config: Config): number[] {
  const others = [config.identityPublicUrl, config.identityAdminUrl, config.databaseUrl].flatMap((address) => {
    const { port } = new URL(address)
    return port === '' ? [] : [Number(port)]
  })
  return [config.port, ...others]
}
