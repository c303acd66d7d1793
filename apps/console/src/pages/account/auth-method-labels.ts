import i18n from 'i18next'
import { providerName } from '../auth/providers.ts'

/** `provider_label` comes from Crux's own identity service; a real Ory Kratos sends only the id. */
export type Way = { method?: string; provider?: string; provider_label?: string }

/** The methods of a sign-in as text: "a password and an authenticator app". Empty if unknown. */
export function authMethodLabels(ways: readonly Way[]): string {
  const words = ways.map(authMethodLabel).filter((word) => word !== '')
  return new Intl.ListFormat('en').format(new Set(words))
}

function authMethodLabel({ method = '', provider, provider_label: label }: Way): string {
  if (method === 'oidc' && provider) return providerName(provider, label)
  const key = `account:way.${method}`
  return i18n.exists(key) ? i18n.t(key as 'account:way.password') : method
}
