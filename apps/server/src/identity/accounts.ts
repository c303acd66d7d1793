import { CruxError } from '@crux/contract'
import { getField, type Logger } from '@crux/service-kit'
import { IdentityApi, type Identity as KratosIdentity } from '@ory/kratos-client'
import { type AdminAddress, adminConfiguration } from './configuration.ts'
import { toUser } from './identity.ts'
import { settledMark } from './recovered-session.ts'
import type { User } from './user.ts'

/** An account as an administrator sees it. `verified`: the owner has proven the address. */
export type Account = User & { verified: boolean }
export type NewAccount = { email: string; firstName: string; lastName?: string | null | undefined }

/** What happened to a user's API tokens. Two reports with the same `id` count as one. */
export type SecurityReport = {
  id: string
  what:
    | { event: 'token-created'; name: string; scope: string }
    | { event: 'token-revoked'; name: string }
    | { event: 'tokens-revoked'; count: number }
  address: string
  userAgent: string
}

/**
 * What the server does with accounts through the admin API: invitations and recovery. Every call may be repeated.
 *
 * @throws CruxError serviceUnavailable when the identity service does not answer
 */
export interface Accounts {
  find(id: string): Promise<Account | undefined>
  /** The comparison ignores case. */
  findByEmail(email: string): Promise<Account | undefined>
  /**
   * Creates an account with a verified address and without a way to sign in. Returns the existing account if another
   * call created it first.
   */
  create(account: NewAccount): Promise<Account>
  /** Deletes the account and its sessions; a missing account is no error. */
  delete(id: string): Promise<void>
  hasSignedIn(id: string): Promise<boolean>
  /** A recovery flow and the code that passes it; any browser may use it. */
  issueCode(id: string, hours: number): Promise<{ flow: string; code: string }>
  /** Records that sessions which the user opened by a recovery until that time no longer need a new password. */
  settleRecovery(id: string, until: Date): Promise<void>
  /**
   * Whether the user wants to see the first steps: `metadata_public.disableOnboarding` of the identity is not true.
   */
  showsOnboarding(id: string): Promise<boolean>
  saveOnboarding(id: string, shown: boolean): Promise<void>
  /** Removes the session as if it had never existed: a user without another session counts as never signed in. */
  undoSignIn(id: string, sessionId: string): Promise<void>
  /**
   * Writes into the security log that the user reads, and sends them a mail. Does nothing for an account that does
   * not exist.
   *
   * @returns `unsupported` from an identity service without such a log, e.g. Ory Kratos
   */
  reportSecurity(id: string, report: SecurityReport): Promise<'done' | 'unsupported'>
}

const quick = { timeout: 10_000, proxy: false } as const

/** Calls the admin API of the identity service, ours or Ory Kratos, through its own client. */
export function createAccounts(options: AdminAddress & { log: Logger }): Accounts {
  const admin = new IdentityApi(adminConfiguration(options))

  async function asked<T>(answer: Promise<{ data: T }>): Promise<T> {
    try {
      return (await answer).data
    } catch (cause) {
      options.log.warn(
        { err: getMessage(cause), status: getStatus(cause) },
        'the admin API of the identity service refused',
      )
      throw new CruxError('serviceUnavailable', { property: 'kratos', cause })
    }
  }

  const findByEmail = async (email: string) => {
    const [found] = await asked(admin.listIdentities({ credentialsIdentifier: email.toLowerCase() }, quick))
    return found && toAccount(found)
  }

  return {
    findByEmail,
    async find(id) {
      const [found] = await asked(admin.listIdentities({ ids: [id] }, quick))
      return found && toAccount(found)
    },
    async create(account) {
      const { email } = account
      const asCreated = admin.createIdentity({ createIdentityBody: toIdentity(account) }, quick)
      try {
        return toAccount((await asCreated).data)
      } catch (cause) {
        const quicker = getStatus(cause) === 409 ? await findByEmail(email) : undefined
        if (quicker) return quicker
        if (getStatus(cause) === 400) throw new CruxError('invalidArgument', { property: 'email', value: email, cause })
        return asked(Promise.reject(cause))
      }
    },
    async delete(id) {
      const deleted = admin.deleteIdentity({ id }, quick)
      const isGone = await deleted.then(() => false, isNotFound)
      if (!isGone) await asked(deleted)
    },
    hasSignedIn: async (id) =>
      (await asked(admin.listIdentitySessions({ id, pageSize: 1, perPage: 1 }, quick))).length > 0,
    async issueCode(id, hours) {
      const body = { identity_id: id, expires_in: `${hours}h` }
      const { recovery_link, recovery_code } = await asked(
        admin.createRecoveryCodeForIdentity({ createRecoveryCodeForIdentityBody: body }, quick),
      )
      return { flow: new URL(recovery_link).searchParams.get('flow') ?? '', code: recovery_code }
    },
    async settleRecovery(id, until) {
      const operation = { op: 'add', path: `/metadata_admin/${settledMark}`, value: until.toISOString() }
      await asked(admin.patchIdentity({ id, jsonPatch: [operation] }, quick))
    },
    async showsOnboarding(id) {
      const { metadata_public } = await asked(admin.getIdentity({ id }, quick))
      return getField(metadata_public, 'disableOnboarding') !== true
    },
    async saveOnboarding(id, shown) {
      if (shown === (await this.showsOnboarding(id))) return
      const path = '/metadata_public/disableOnboarding'
      const operation = shown ? { op: 'remove', path } : { op: 'add', path, value: true }
      await asked(admin.patchIdentity({ id, jsonPatch: [operation] }, quick))
    },
    async undoSignIn(id, sessionId) {
      const sessions = await asked(admin.listIdentitySessions({ id, pageSize: 2, perPage: 2 }, quick))
      if (sessions.some((session) => session.id !== sessionId))
        await asked(admin.disableSession({ id: sessionId }, quick))
      else await asked(admin.deleteIdentitySessions({ id }, quick))
    },
    reportSecurity: (id, report) => reportSecurity(options, id, report),
  }
}

async function reportSecurity(
  { adminUrl, adminToken }: AdminAddress,
  id: string,
  { what, address, userAgent, ...report }: SecurityReport,
): Promise<'done' | 'unsupported'> {
  const url = `${adminUrl.replace(/\/+$/, '')}/admin/identities/${encodeURIComponent(id)}/security-log`
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(adminToken && { authorization: `Bearer ${adminToken}` }),
    },
    body: JSON.stringify({ ...report, what, ip_address: address, user_agent: userAgent }),
    redirect: 'manual',
    signal: AbortSignal.timeout(quick.timeout),
  })
  if (answer.ok) return 'done'
  // The service answers a missing path in plain text, and a missing account in JSON.
  const isJson = answer.headers.get('content-type')?.includes('json')
  await answer.body?.cancel()
  if (answer.status === 404 && isJson) return 'done'
  if (answer.status === 404 || answer.status === 405) return 'unsupported'
  throw new CruxError('serviceUnavailable', { property: 'kratos', description: `It answered ${answer.status}.` })
}

function toIdentity({ email, firstName, lastName }: NewAccount) {
  return {
    schema_id: 'default',
    traits: { email, name: { first: firstName, ...(lastName && { last: lastName }) } },
    // The invitation's mail proves the address: only its reader can sign in.
    verifiable_addresses: [{ value: email.toLowerCase(), via: 'email' as const, verified: true, status: 'completed' }],
  }
}

function toAccount(identity: KratosIdentity): Account {
  const user = toUser(identity)
  const address = identity.verifiable_addresses?.find(({ value }) => value.toLowerCase() === user.email.toLowerCase())
  return { ...user, verified: address?.verified === true }
}

const getStatus = (cause: unknown) => getField(getField(cause, 'response'), 'status')
const isNotFound = (cause: unknown) => getStatus(cause) === 404
/** An error of the HTTP client contains the request with its token, so that only its message is logged. */
const getMessage = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))
