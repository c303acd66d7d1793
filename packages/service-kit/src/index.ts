export { clientNetwork } from './client-network.ts'
export { ConfigError, parseConfig } from './config.ts'
export { errorCode, getField } from './errors.ts'
export type { Health, HealthReport, HealthStatus } from './health.ts'
export { createHealth } from './health.ts'
export { isUuid } from './ids.ts'
export type { Lifecycle } from './lifecycle.ts'
export { createLifecycle } from './lifecycle.ts'
export type { Logger, LogLevel } from './logger.ts'
export { createLogger, logLevels, requestIdFrom } from './logger.ts'
export { isLoopbackHost, isLoopbackUrl } from './loopback-url.ts'
export type { Metrics } from './metrics.ts'
export { createMetrics, metricsHandler } from './metrics.ts'
export { outboundAllow, trustedProxies } from './network-settings.ts'
export type { AddressVerdict } from './outbound/addresses.ts'
export { judgeAddress } from './outbound/addresses.ts'
export type { Outbound, OutboundRequest, OutboundResponse } from './outbound/client.ts'
export { createOutbound } from './outbound/client.ts'
export type { OutboundErrorCode } from './outbound/errors.ts'
export { OutboundError } from './outbound/errors.ts'
export { createQueue } from './queue.ts'
export { redact, redactText } from './redact.ts'
export { createRounds } from './rounds.ts'
export type { TtlCache } from './ttl-cache.ts'
export { createTtlCache, loadMany, loadShared } from './ttl-cache.ts'
export type { UnhandledError } from './unhandled-errors.ts'
export {
  guarded,
  handleUnhandledErrors,
  inBackground,
  onUnhandledError,
  withErrorScope,
} from './unhandled-errors.ts'
export { withinTime } from './within-time.ts'
