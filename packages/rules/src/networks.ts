import type { ContainerConfigFields } from '@crux/contract'
import type { HostDanger, Report } from './config-problem.ts'

/**
 * The meaning of a key in `networks`. A plain key is a network of the team on the node, shared by all its containers there. `engine:NAME` is an
 * existing network of the engine that other software created.
 */
export type NetworkReference = { kind: 'team' | 'engine'; name: string }

export const engineNetworkPrefix = 'engine:'
const nameLengthMax = 128
/** Network modes of the engine, which are not networks that a container can join. */
const networkModes: ReadonlySet<string> = new Set(['bridge', 'default', 'host', 'none'])

export function parseNetworkKey(key: string): NetworkReference {
  return key.startsWith(engineNetworkPrefix)
    ? { kind: 'engine', name: key.slice(engineNetworkPrefix.length) }
    : { kind: 'team', name: key }
}

/** Keys that the engine would refuse as a name, or would not interpret as a name. */
export function checkNetworks(config: ContainerConfigFields, report: Report): void {
  for (const [index, { key }] of (config.networks ?? []).entries()) {
    const found = networkKeyProblem(key)
    if (found) report(`networks[${index}].key`, found.error, found.description)
  }
}

export function networkKeyProblem(key: string): { error: string; description: string } | undefined {
  const { kind, name } = parseNetworkKey(key)
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(name))
    return {
      error: 'matches',
      description: 'A network name starts with a letter or digit and has letters, digits, dots, dashes and underscores',
    }
  if (name.length > nameLengthMax)
    return { error: 'max', description: `A network name has at most ${nameLengthMax} characters` }
  if (networkModes.has(name.toLowerCase()))
    return { error: 'reserved', description: `${name} is a network mode: choose it as the network mode` }
  // The engine looks for an id before it looks for a name.
  if (kind === 'engine' && /^[0-9a-f]{64}$/i.test(name))
    return { error: 'matches', description: 'Write the name of the network on the engine, not its id' }
  return undefined
}

/** Networks of the engine belong to other software: a container that joins one reaches everything on it. */
export const networkDangers = (config: ContainerConfigFields): HostDanger[] =>
  (config.networks ?? []).flatMap(({ key }, index) => {
    const { kind, name } = parseNetworkKey(key)
    const reason = `The network ${name} of the engine connects it with containers that are not the team's`
    return kind === 'team' ? [] : [{ property: `networks[${index}].key`, value: key, reason }]
  })
