import type { ContainerConfigFields } from '@crux/contract'

/** How long Docker and Compose wait between the stop signal and the kill. */
export const stopGracePeriodDefaultSeconds = 10
/** The estimated time to switch a port, before a release has measured it. */
const handoverMs = 400

export const stopGracePeriodMs = ({ stopGracePeriodSeconds }: ContainerConfigFields): number =>
  (stopGracePeriodSeconds ?? stopGracePeriodDefaultSeconds) * 1_000

/**
 * The downtime of a service while its container is replaced: the expected one, and the maximum when the container ignores its stop signal. A
 * container that used its whole grace period the last time is expected to do so again.
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
