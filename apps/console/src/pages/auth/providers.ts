import type { Flow } from '../../api/identity.ts'
import { valueAt } from '../../api/unknown-data.ts'

/** Names of common providers for which only the id is known. */
const names: Record<string, string> = { google: 'Google', gitlab: 'GitLab', github: 'GitHub', azure: 'Microsoft' }

/** @param label the installation's name for it; without one it is the id again or unknown */
export const providerName = (id: string, label?: unknown): string =>
  typeof label === 'string' && label !== '' && label !== id
    ? label
    : (names[id] ?? id.charAt(0).toUpperCase() + id.slice(1))

/** `last`: it is the only way to sign in, and stays. */
export type LoginProvider = { id: string; name: string; last: boolean }

/** The providers that a flow offers under a field: `provider` at sign-in, `link` and `unlink` in the settings. */
export function listProviders(
  flow: Flow | undefined,
  field: 'provider' | 'link' | 'unlink' = 'provider',
): LoginProvider[] {
  return (flow?.ui.nodes ?? []).flatMap(({ group, attributes, meta }) => {
    if (group !== 'oidc' || !('name' in attributes) || attributes.name !== field) return []
    const id = attributes.value
    if (typeof id !== 'string' || id === '') return []
    return [
      { id, name: providerName(id, valueAt(meta.label?.context, 'provider')), last: attributes.disabled === true },
    ]
  })
}

/** A provider sent too little data to create an account: the flow came back with a form of its own for the rest. */
export const lacksTraits = (flow: Flow | undefined): boolean =>
  flow?.ui.nodes.some(
    ({ group, attributes }) => group === 'oidc' && 'name' in attributes && attributes.name.startsWith('traits.'),
  ) ?? false
