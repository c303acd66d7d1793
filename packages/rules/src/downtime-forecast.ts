import type { ContainerConfigFields } from '@crux/contract'

/** What Docker and Compose wait for between the stop signal and the kill. */
export const stopGracePeriodDefaultSeconds = 10
/** What engines need to hand a port on, where no release has shown it yet. */
const handoverMs = 400

export const stopGracePeriodMs = ({ stopGracePeriodSeconds }: ContainerConfigFields): number =>
  (stopGracePeriodSeconds ?? stopGracePeriodDefaultSeconds) * 1_000

/**
 * For how long a service is down while its container is replaced: what to expect, and at most, when the container does not end by
 * its stop signal. One that took its whole grace period the last time is expected to do so again.
 *
 * @param stopped the configuration of the container that will be stopped
 * @param last the last replacement, with the grace period of the container that was stopped then
 */
export function downtimeForecast(
  stopped: ContainerConfigFields,
  last: { milliseconds: number; gracePeriodMs: number } | undefined,
): { milliseconds: number; maximumMilliseconds: number } {
  const gracePeriodMs = stopGracePeriodMs(stopped)
  const usualMs = last?.milliseconds ?? handoverMs
  const ignoredSignal = last !== undefined && last.gracePeriodMs > 0 && last.milliseconds >= last.gracePeriodMs
  const withoutStopMs = ignoredSignal ? usualMs - last.gracePeriodMs : usualMs
  const maximumMilliseconds = withoutStopMs + gracePeriodMs
  return { milliseconds: ignoredSignal ? maximumMilliseconds : usualMs, maximumMilliseconds }
}
