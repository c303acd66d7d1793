import i18n from 'i18next'
import { providerName } from '../auth/providers.ts'

/** `provider_label` comes from Crux's own identity service; a real Ory Kratos sends only the id. */
export type AuthMethod = { method?: string; provider?: string; provider_label?: string }

/** The methods of a sign-in as text: "a password and an authenticator app". Empty if unknown. */
export function authMethodLabels(methods: readonly AuthMethod[]): string {
  const labels = methods.map(authMethodLabel).filter((word) => word !== '')
  return new Intl.ListFormat('en').format(new Set(labels))
}

function authMethodLabel({ method = '', provider, provider_label: label }: AuthMethod): string {
  if (method === 'oidc' && provider) return providerName(provider, label)
  const key = `account:method.${method}`
  return i18n.exists(key) ? i18n.t(key as 'account:method.password') : method
}
