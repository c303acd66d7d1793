import type { Claims } from '../../app/services.ts'

/** A failure of the provider or of the connection to it; the message may be shown. */
export class ProviderError extends Error {
  override name = 'ProviderError'
}

/** Splits the full name from a provider into first and last name. */
export function splitName(name: string | undefined): Pick<Claims, 'firstName' | 'lastName'> {
  const [first = '', ...rest] = (name ?? '').trim().split(/\s+/)
  return {
    ...(first === '' ? {} : { firstName: first }),
    ...(rest.length === 0 ? {} : { lastName: rest.join(' ') }),
  }
}
