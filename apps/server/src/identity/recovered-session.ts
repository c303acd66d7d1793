import { getField } from '@crux/service-kit'
import type { IdentityApi, Identity as KratosIdentity, Session } from '@ory/kratos-client'

/** The key of the time up to which recoveries of a user are complete, because the identity service does not show it. */
export const settledMark = 'recovery_settled'

const quick = { timeout: 5_000, proxy: false } as const
const ways = ['code_recovery', 'link_recovery']
const firstFactors = ['password', 'oidc', 'passkey']

/**
 * The time at which a session was opened by a code or link of recovery or invitation, by any relay. Undefined for
 * all others, and once the user has a new way to sign in, has proven an old one, or has signed in with the password
 * elsewhere.
 */
export async function recoveredAt(admin: IdentityApi, session: Session): Promise<Date | undefined> {
  const id = session.identity?.id
  const opened = session.authentication_methods?.filter(({ aal }) => aal !== 'aal2').at(-1)
  if (id === undefined || !ways.includes(String(opened?.method))) return undefined
  const at = Date.parse(opened?.completed_at ?? session.issued_at ?? '')
  const [{ data: identity }, { data: sessions }] = await Promise.all([
    admin.getIdentity({ id }, quick),
    admin.listIdentitySessions({ id, pageSize: 25 }, quick),
  ])
  return isSettled(identity, at) || sessions.some((other) => hasProvenPassword(other, at)) ? undefined : new Date(at)
}

function isSettled({ credentials = {}, metadata_admin }: KratosIdentity, at: number): boolean {
  const later = (time: string | undefined) => time !== undefined && Date.parse(time) > at
  const mark = getField(metadata_admin, settledMark)
  if (typeof mark === 'string' && Date.parse(mark) >= at) return true
  const own = firstFactors.flatMap((type) => credentials[type] ?? [])
  if (own.some((credential) => later(credential.created_at))) return true
  // Ory Kratos rewrites all credentials with every change of the account, so that times count only where other
  // credentials stayed unchanged.
  const others = Object.values(credentials).some((credential) => !later(credential.updated_at))
  return others && own.some((credential) => later(credential.updated_at))
}

const hasProvenPassword = ({ authentication_methods: methods = [] }: Session, at: number) =>
  methods.some(({ method, completed_at }) => method === 'password' && Date.parse(completed_at ?? '') > at)
