export type User = { id: string; name: string; email: string }
/** `recoveredAt`: when the account was last recovered. Our identity service reports it, Ory Kratos does not. */
export type ActiveUser = User & { recoveredAt?: Date | undefined }
export type Credential = { kind: 'cookie' | 'token'; value: string }

/** A user as the author of a request. */
export type AuthenticatedUser = User & {
  kind: 'user'
  /** When the session or the token expires. */
  sessionExpiresAt: Date
  /** The assurance of the session, or of the session that created the token: one factor or two. */
  aal: 'aal1' | 'aal2'
  /** The user signed in with a code of a recovery or invitation and has set no password since. */
  recovered: boolean
}
/** A signed-in user. */
export type SessionActor = AuthenticatedUser & {
  sessionId: string
  /** When the user last authenticated in this session. */
  authenticatedAt: Date
  grant?: undefined
  recoveredAt?: Date | undefined
}
