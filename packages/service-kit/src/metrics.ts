import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client'

export interface Metrics {
  contentType: string
  /** All metrics in the format of Prometheus. Process metrics are measured from the first call on. */
  read(): Promise<string>
  counter<T extends string>(options: Own<CounterConfiguration<T>>): Counter<T>
  gauge<T extends string>(options: Own<GaugeConfiguration<T>>): Gauge<T>
  histogram<T extends string>(options: Own<HistogramConfiguration<T>>): Histogram<T>
}
type Own<T> = Omit<T, 'registers'>

/**
 * A separate registry (nothing global, so several can exist in one process) with the default metrics of the process. These sample the event loop a
 * hundred times a second, which is most of the load of an idle process, so nothing is sampled before metrics are read.
 */
export function createMetrics(options: { prefix?: string } = {}): Metrics {
  const registry = new Registry()
  const prefix = options.prefix ?? ''
  let hasDefaults = false
  return {
    contentType: registry.contentType,
    read() {
      if (!hasDefaults) collectDefaultMetrics({ register: registry, prefix })
      hasDefaults = true
      return registry.metrics()
    },
    counter: (config) => new Counter({ ...config, name: prefix + config.name, registers: [registry] }),
    gauge: (config) => new Gauge({ ...config, name: prefix + config.name, registers: [registry] }),
    histogram: (config) => new Histogram({ ...config, name: prefix + config.name, registers: [registry] }),
  }
}

/**
 * Answers `/metrics` to requests with the token. Without a configured token it answers only while the public address is loopback and no proxy
 * forwarded the request.
 */
export function metricsHandler(options: { metrics: Metrics; token: string | undefined; loopbackUrl: boolean }) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const refusal = findRefusal(request.headers, options)
    if (refusal) {
      if (refusal === 401) reply.header('www-authenticate', 'Bearer')
      return reply
        .code(refusal)
        .type('text/plain')
        .send(refusal === 401 ? 'unauthorized\n' : 'forbidden\n')
    }
    return reply.type(options.metrics.contentType).send(await options.metrics.read())
  }
}

function findRefusal(
  headers: FastifyRequest['headers'],
  options: { token: string | undefined; loopbackUrl: boolean },
): 401 | 403 | undefined {
  if (options.token) return bearerMatches(headers.authorization, options.token) ? undefined : 401
  const forwarded = Object.keys(headers).some(
    (name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'),
  )
  return options.loopbackUrl && !forwarded ? undefined : 403
}

/** Hashes are compared, so that the time does not depend on the lengths. */
function bearerMatches(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? ''
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
