import type { Flow } from '../../api/identity.ts'

/** How the common ones are called, where only their id is known; another one goes by its id. */
const names: Record<string, string> = { google: 'Google', gitlab: 'GitLab', github: 'GitHub', azure: 'Microsoft' }

export const providerName = (id: string): string => names[id] ?? id.charAt(0).toUpperCase() + id.slice(1)

/** `last`: it is the only way to sign in, and stays. */
export type LoginProvider = { id: string; name: string; last: boolean }

/** The providers that a flow offers under a field: `provider` at sign-in, `link` and `unlink` in the settings. */
export function providersOf(
  flow: Flow | undefined,
  field: 'provider' | 'link' | 'unlink' = 'provider',
): LoginProvider[] {
  return (flow?.ui.nodes ?? []).flatMap(({ group, attributes, meta }) => {
    if (group !== 'oidc' || !('name' in attributes) || attributes.name !== field) return []
    const id = attributes.value
    if (typeof id !== 'string' || id === '') return []
    // The label tells the name that the installation gives it; without one that is the id once more.
    const { provider } = (meta.label?.context ?? {}) as { provider?: unknown }
    const name = typeof provider === 'string' && provider !== '' && provider !== id ? provider : providerName(id)
    return [{ id, name, last: attributes.disabled === true }]
  })
}

/** A provider told too little to make an account: the flow came back with a form of its own for the rest. */
export const lacksTraits = (flow: Flow | undefined): boolean =>
  flow?.ui.nodes.some(
    ({ group, attributes }) => group === 'oidc' && 'name' in attributes && attributes.name.startsWith('traits.'),
  ) ?? false
