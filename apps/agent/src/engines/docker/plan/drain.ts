import type { ObservedContainer } from '../containers/container-engine.ts'

/**
 * Whether a client could have a connection open to a container that a release removes, so that it must continue for a moment after its
 * successor has its names. No client can if it publishes nothing, neither the gate nor a label for a proxy routes to it, it is on no
 * network but those of its prefix, and nothing else runs there.
 *
 * @param leaving whether it still runs
 * @param neighbours containers of the prefix before the release
 * @param options.joining how many new containers the release starts: those besides its successor may have resolved its names
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
