import i18n from 'i18next'
import { providerName } from '../auth/providers.ts'

export type Way = { method?: string; provider?: string }

/** How somebody has proven who they are: "a password and an authenticator app". Empty where nothing is known. */
export function wayWords(ways: readonly Way[]): string {
  const words = ways.map(wayWord).filter((word) => word !== '')
  return new Intl.ListFormat('en').format(new Set(words))
}

function wayWord({ method = '', provider }: Way): string {
  if (method === 'oidc' && provider) return providerName(provider)
  const key = `account:way.${method}`
  return i18n.exists(key) ? i18n.t(key as 'account:way.password') : method
}
