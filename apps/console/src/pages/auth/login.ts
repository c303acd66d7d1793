/** `direct` fields go to the identity service itself: the product's API supports neither factors nor passkeys. */
export type Login =
  | { method: 'password'; email: string; password: string }
  | { method: 'code'; email: string; code?: string }
  | { method: 'oidc'; provider: string }
  | { method: 'direct'; fields: Record<string, unknown> }
