import { type CaptureResult, PostHog, type Properties } from 'posthog-js/dist/module.slim.no-external'

let created = 0

export type Sender = { send: (event: string, properties: Properties) => void; stop: () => void }

/** The only properties that leave the browser. The library adds addresses, titles, referrers and screen sizes, which are dropped. */
const sentProperties: ReadonlySet<string> = new Set([
  'token',
  'distinct_id',
  '$groups',
  '$process_person_profile',
  '$geoip_disable',
  '$pathname',
  '$exception_list',
  'code',
])

/**
 * Sends events to PostHog. The library is its build without recording, surveys, heatmaps and automatic capture, which also loads nothing from
 * elsewhere. It stores nothing: each page load is another anonymous visitor.
 */
export function createSender({ host, key }: { host: string; key: string }): Sender {
  let isStopped = false
  const posthog = new PostHog().init(
    key,
    {
      api_host: host,
      before_send: (event) => (isStopped || !event ? null : onlySentProperties(event)),
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
    send: (event, properties) => void posthog.capture(event, { ...properties, $geoip_disable: true }),
    stop() {
      isStopped = true
      // The library drops every request while it is not loaded, also those that failed and wait to be repeated.
      posthog.__loaded = false
    },
  }
}

function onlySentProperties({ uuid, event, properties, timestamp }: CaptureResult): CaptureResult {
  const kept = Object.entries(properties).filter(([name]) => sentProperties.has(name))
  return { uuid, event, properties: Object.fromEntries(kept), ...(timestamp && { timestamp }) }
}
