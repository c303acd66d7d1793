import { randomInt } from 'node:crypto'
import { and, eq, gt, isNull } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import type { Executor } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { codes, type Flow } from '../db/schema.ts'
import type { RequestContext } from '../http/request-context.ts'
import { countGuess } from '../limits/guesses.ts'
import type { Mail } from '../mail/mail.ts'
import { countAttempt } from './store.ts'

/** Wrong codes before the flow ends. This applies even with CRUX_RATE_LIMITS=off, because a six-digit code allows no more. */
export const attemptsPerCode = 5
export const codeLifespanMs = 60 * 60_000

/** The recipient of a code. A sign-up has no identity yet; `addressId` is set where the right code verifies the address. */
export interface CodeOwner {
  identityId?: string
  addressId?: string
}

export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0')
}

/**
 * Stores a code, or another secret of a mail, for a flow. Codes that were sent before stop working.
 *
 * @param secret six digits, or the token of a link
 */
export async function storeCode(
  tx: Executor,
  app: App,
  flow: Flow,
  options: { secret: string; owner: CodeOwner; expiresAt: Date },
): Promise<void> {
  const { secret, owner, expiresAt } = options
  await tx.delete(codes).where(eq(codes.flowId, flow.id))
  await tx.insert(codes).values({
    id: newId(),
    flowId: flow.id,
    codeHash: toHash(app, flow, secret),
    expiresAt,
    // The value is explicit, so that the statement is the same for an unknown address.
    identityId: owner.identityId ?? null,
    addressId: owner.addressId ?? null,
  })
}

/**
 * Sends a code. For an unknown address, the same work is done without a mail, so neither answer nor response time reveals it.
 *
 * @param to undefined for an unknown address
 */
export async function sendCode(
  tx: Executor,
  app: App,
  flow: Flow,
  to: { owner: CodeOwner; mail: (code: string, usefulUntil: Date) => Mail } | undefined,
  secret = newCode(),
): Promise<void> {
  const expiresAt = new Date(Date.now() + codeLifespanMs)
  await storeCode(tx, app, flow, { secret, owner: to?.owner ?? {}, expiresAt })
  if (to) await app.outbox.enqueue(tx, to.mail(secret, expiresAt))
  else await app.outbox.enqueueNothing(tx)
}

/** Whether `code` is the code of the flow. Does not use it up. */
export async function isFlowCode(db: Executor, app: App, flow: Flow, code: string): Promise<boolean> {
  const rows = await db
    .select({ id: codes.id })
    .from(codes)
    .where(and(eq(codes.flowId, flow.id), eq(codes.codeHash, toHash(app, flow, code)), isNull(codes.usedAt)))
  return rows.length > 0
}

export type CodeUse =
  | { kind: 'right'; identityId: string | null; addressId: string | null }
  | { kind: 'wrong' }
  | { kind: 'expired'; at: Date }

/** Uses a code up. Of two concurrent requests, one gets `right`; the other finds the code used. */
export async function takeCode(tx: Executor, app: App, flow: Flow, code: string): Promise<CodeUse> {
  const its = and(eq(codes.flowId, flow.id), eq(codes.codeHash, toHash(app, flow, code)), isNull(codes.usedAt))
  const at = new Date()
  const [used] = await tx
    .update(codes)
    .set({ usedAt: at })
    .where(and(its, gt(codes.expiresAt, at)))
    .returning({ identityId: codes.identityId, addressId: codes.addressId })
  if (used) return { kind: 'right', ...used }
  const [late] = await tx.select({ at: codes.expiresAt }).from(codes).where(its)
  return late ? { kind: 'expired', at: late.at } : { kind: 'wrong' }
}

/**
 * Checks a typed code, which counts as a guess, and uses it up. After five attempts no code is checked.
 *
 * @param options.subject the purpose and the account; the attempts at it are counted across all flows and mails
 * @param options.isExpected whether the code was sent to the address of the submit
 * @param options.accept runs in the transaction that uses the right code up
 */
export async function tryCode(
  app: App,
  ctx: RequestContext,
  flow: Flow,
  options: {
    code: string
    subject: string
    identityId: () => Promise<string | undefined>
    isExpected?: boolean
    accept?: (tx: Executor, use: CodeUse & { kind: 'right' }) => Promise<void>
  },
): Promise<CodeUse | { kind: 'spent' }> {
  const { code, subject, identityId, isExpected = true, accept } = options
  const guess = await countGuess(app, ctx, { kind: 'code', subject, identityId })
  if ((await countAttempt(app.database.db, flow)) > attemptsPerCode) return { kind: 'spent' }
  if (!isExpected) return { kind: 'wrong' }
  const use = await app.database.transaction(async (tx) => {
    const taken = await takeCode(tx, app, flow, code)
    if (taken.kind === 'right') await accept?.(tx, taken)
    return taken
  })
  if (use.kind === 'right') await guess.right()
  return use
}

function toHash(app: App, flow: Flow, code: string): Buffer {
  return app.keys.sign('code', flow.id, code.trim())
}
