export type ServiceAccountKey = { user: string; token: string }

/** The account and private key in the JSON key file of a Google service account; undefined for any other text. */
export function parseServiceAccountKey(text: string): ServiceAccountKey | undefined {
  try {
    const file: unknown = JSON.parse(text)
    if (typeof file !== 'object' || file === null) return undefined
    const { type, client_email: user, private_key: token }: Record<string, unknown> = { ...file }
    const isKey = type === 'service_account' && typeof user === 'string' && typeof token === 'string'
    return isKey && user !== '' && /^-----BEGIN (RSA )?PRIVATE KEY-----/.test(token.trim())
      ? { user, token }
      : undefined
  } catch {
    return undefined
  }
}
