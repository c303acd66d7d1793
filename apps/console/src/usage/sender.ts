import { type CaptureResult, PostHog, type Properties } from 'posthog-js/dist/module.slim.no-external'

export type Sender = { send: (event: string, properties: Properties) => void; stop: () => void }

/** What the library adds and the service needs. Everything else of it, such as addresses, titles and screen sizes, is dropped. */
const neededProperties = ['token', 'distinct_id', '$process_person_profile'] as const

let created = 0

/**
 * Sends events to PostHog. The library is its build without recording, surveys, heatmaps and automatic capture, which also loads nothing from
 * elsewhere. It stores nothing: each page load is another anonymous visitor.
 */
export function createSender({ host, key }: { host: string; key: string }): Sender {
  let isStopped = false
  /** The properties of the event that is being sent; without them it is none of ours. */
  let own: Properties | undefined
  const posthog = new PostHog().init(
    key,
    {
      api_host: host,
      before_send: (event) => (isStopped || !event || !own ? null : withOnly(event, own)),
      persistence: 'memory',
      disable_persistence: true,
      person_profiles: 'never',
      respect_dnt: true,
      // An event waits for no batch, so that none is left when the consent ends.
      request_batching: false,
      // The consent is the filter: a browser that looks automated belongs to a user who switched it on.
      opt_out_useragent_filter: true,
      disable_compression: true,
      autocapture: false,
      rageclick: false,
      capture_pageview: false,
      capture_pageleave: false,
      capture_exceptions: false,
      capture_heatmaps: false,
      capture_dead_clicks: false,
      capture_performance: false,
      save_referrer: false,
      save_campaign_params: false,
      disable_session_recording: true,
      disable_surveys: true,
      disable_product_tours: true,
      disable_conversations: true,
      disable_web_experiments: true,
      disable_scroll_properties: true,
      disable_external_dependency_loading: true,
      advanced_disable_flags: true,
    },
    // A name of its own for each: the library would return the stopped one of the same name.
    `crux-${++created}`,
  )
  return {
    send(event, properties) {
      own = { ...properties, $geoip_disable: true }
      posthog.capture(event)
      own = undefined
    },
    stop() {
      isStopped = true
      // The library drops every request while it is not loaded, also those that failed and wait to be repeated.
      posthog.__loaded = false
    },
  }
}

function withOnly({ uuid, event, properties, timestamp }: CaptureResult, own: Properties): CaptureResult {
  const needed = Object.fromEntries(neededProperties.map((name) => [name, properties[name]]))
  return { uuid, event, properties: { ...needed, ...own }, ...(timestamp && { timestamp }) }
}
