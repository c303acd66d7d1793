import type { Flow } from '../../api/identity.ts'

/** How providers are called; another one goes by its id. */
const names: Record<string, string> = { google: 'Google', gitlab: 'GitLab', github: 'GitHub', azure: 'Microsoft' }

export const providerName = (id: string): string => names[id] ?? id

/** The providers that a flow offers under a field: `provider` at sign-in, `link` and `unlink` in the settings. */
export function providersOf(flow: Flow | undefined, field: 'provider' | 'link' | 'unlink' = 'provider'): string[] {
  const values = (flow?.ui.nodes ?? []).map(({ group, attributes }) =>
    group === 'oidc' && 'name' in attributes && attributes.name === field ? attributes.value : undefined,
  )
  return values.filter((value): value is string => typeof value === 'string' && value !== '')
}
