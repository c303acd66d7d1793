import type { ObservedContainer } from '../drivers/container-engine.ts'

/**
 * Whether somebody could have a connection open to a container that a release removes, so that it must go on for a moment after
 * its successor has its names. Nobody can if it publishes nothing, neither the gate nor a
 * label for a proxy leads to it, it is on no network but those of its prefix, and nothing else runs there.
 *
 * @param leaving it still runs
 * @param neighbours containers of the prefix before the release
 * @param options.joining how many new containers the release starts: more than its successor may have found it under its names
 */
export function mayHaveConnections(
  leaving: ObservedContainer,
  neighbours: readonly ObservedContainer[],
  options: { joining: number; networks: ReadonlySet<string> },
): boolean {
  const { published, gated, hostNetwork, labels, networks } = leaving
  if (published.length > 0 || gated.length > 0 || hostNetwork || options.joining > 1) return true
  if (Object.entries(labels).some(([key, value]) => !key.startsWith('dev.crux.') && value !== '')) return true
  if (networks.some(({ name }) => !options.networks.has(name))) return true
  return neighbours.some(
    ({ id, state, networks: theirs }) =>
      id !== leaving.id &&
      state !== 'exited' &&
      state !== 'created' &&
      theirs.some(({ name }) => options.networks.has(name)),
  )
}
