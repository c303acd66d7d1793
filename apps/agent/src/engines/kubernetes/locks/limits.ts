/**
 * How long each step of a deletion waits for the cluster, in milliseconds. Many proxies end a request after 60 s, and its result would be lost: all
 * of them together leave some seconds for the requests in between. What is not done by then is named, and the deletion can be repeated.
 */
export const deletionLimitsMs = {
  /** Pods get the time that their configuration gives them to end, which is 10 s by default. */
  podsEnd: 12_000,
  claimsGone: 8_000,
  quotaEnforced: 6_000,
  /** Within it the cluster applies a quota to requests that it was already serving. */
  quotaSettles: 2_000,
  objectsCounted: 15_000,
  namespaceGone: 10_000,
} as const
