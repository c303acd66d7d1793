import type { App } from '../context.ts'
import { newId } from '../db/new-id.ts'
import type { Queries } from '../db/queries.ts'
import type { SecurityReport } from '../identity/index.ts'
import { tokenMail } from '../mails/index.ts'

const job = 'security-report'

/** The client that made a change, as the owner of the account sees it in the security log. */
export type Requester = { address: string; userAgent: string }
/** For effects of an event at the identity service, which has logged the event with its client. */
export const unknownRequester: Requester = { address: '', userAgent: '' }

type ReportJob = { userId: string; report: SecurityReport }

/** Notifies the owner, by mail and in their security log, if and only if the transaction commits. */
export async function reportTokens(
  app: Pick<App, 'jobs'>,
  queries: Queries,
  userId: string,
  { address, userAgent }: Requester,
  what: SecurityReport['what'],
): Promise<void> {
  // Ids of the log sort by time.
  const id = await newId(queries)
  const report: SecurityReport = { id, what, address, userAgent: userAgent.slice(0, 512) }
  await app.jobs.send(job, { userId, report } satisfies ReportJob, { within: queries })
}

/** Delivers the reports, and tries again while the identity service is unavailable. Call before the jobs start. */
export function handleSecurityReports(app: App): void {
  app.jobs.handle<ReportJob>(job, { retriesMax: 20, retryDelayS: 2 }, async ({ userId, report }) => {
    if ((await app.accounts.reportSecurity(userId, report)) !== 'unsupported') return
    const account = await app.accounts.find(userId)
    if (account?.email && app.mail) await app.mail.send(tokenMail(account.email, report.what))
  })
}
