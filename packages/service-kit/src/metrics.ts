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
  /** All of them as Prometheus reads them. The process's own are measured from the first call on. */
  read(): Promise<string>
  counter<T extends string>(options: Own<CounterConfiguration<T>>): Counter<T>
  gauge<T extends string>(options: Own<GaugeConfiguration<T>>): Gauge<T>
  histogram<T extends string>(options: Own<HistogramConfiguration<T>>): Histogram<T>
}
type Own<T> = Omit<T, 'registers'>

/**
 * A registry of its own (nothing global, so several can live in one process) with the process's default metrics. Those sample the event
 * loop a hundred times a second, most of what an idle process does: where nobody reads metrics, nothing is sampled.
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
 * Answers `/metrics`: to the bearer of the token; without a configured token only while the public address is loopback
 * and nothing forwarded the request.
 */
export function metricsHandler(options: { metrics: Metrics; token: string | undefined; loopbackUrl: boolean }) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const refusal = refusalOf(request.headers, options)
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

function refusalOf(
  headers: FastifyRequest['headers'],
  options: { token: string | undefined; loopbackUrl: boolean },
): 401 | 403 | undefined {
  if (options.token) return bearerMatches(headers.authorization, options.token) ? undefined : 401
  const forwarded = Object.keys(headers).some(
    (name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'),
  )
  return options.loopbackUrl && !forwarded ? undefined : 403
}

/** Hashes first, so that the comparison takes the same time whatever the lengths. */
function bearerMatches(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? ''
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
