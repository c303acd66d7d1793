import { randomInt } from 'node:crypto'
import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { App } from '../context.ts'
import type { Executor } from '../db/executor.ts'
import { newId } from '../db/ids.ts'
import { codes, verifiableAddresses } from '../db/schema.ts'
import type { Flow } from '../flows/flow.ts'
import type { VerifiableAddress } from '../identities/store.ts'
import { verificationMail } from '../mail/mail.ts'

/** Wrong codes before the flow is over. Holds even with CRUX_RATE_LIMITS=off: six digits are no more than that. */
export const triesPerCode = 5
const codeLifespanMs = 60 * 60_000

/** Makes a code for an address and puts its mail on the way. The caller wakes the outbox after the commit. */
export async function issueVerificationCode(
  tx: Executor,
  app: App,
  flow: Flow,
  address: VerifiableAddress,
): Promise<VerifiableAddress> {
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const expiresAt = new Date(Date.now() + codeLifespanMs)
  await tx.insert(codes).values({
    id: newId(),
    flowId: flow.id,
    addressId: address.id,
    codeHash: hashOf(app, flow, code),
    expiresAt,
  })
  const link = `${app.publicUrl}/self-service/verification?${new URLSearchParams({ flow: flow.id, code })}`
  await app.outbox.enqueue(tx, verificationMail({ recipient: address.value, code, link, usefulUntil: expiresAt }))
  const [sent] = await tx
    .update(verifiableAddresses)
    .set({
      status: sql`case when ${verifiableAddresses.verified} then ${verifiableAddresses.status} else 'sent' end`,
      updatedAt: new Date(),
    })
    .where(eq(verifiableAddresses.id, address.id))
    .returning()
  return sent ?? address
}

/** Sending another code makes the former one of the flow worthless. */
export async function voidCodes(tx: Executor, flow: Flow): Promise<void> {
  await tx.delete(codes).where(eq(codes.flowId, flow.id))
}

/** Whether `code` is the flow's, without using it up. */
export async function isFlowCode(db: Executor, app: App, flow: Flow, code: string): Promise<boolean> {
  const rows = await db
    .select({ id: codes.id })
    .from(codes)
    .where(and(eq(codes.flowId, flow.id), eq(codes.codeHash, hashOf(app, flow, code)), isNull(codes.usedAt)))
  return rows.length > 0
}

export type CodeUse = 'verified' | 'wrong' | 'expired'

/** Uses a code up and verifies its address. Of two at the same time one is right, the other finds it used. */
export async function useVerificationCode(tx: Executor, app: App, flow: Flow, code: string): Promise<CodeUse> {
  const its = and(eq(codes.flowId, flow.id), eq(codes.codeHash, hashOf(app, flow, code)), isNull(codes.usedAt))
  const at = new Date()
  const [used] = await tx
    .update(codes)
    .set({ usedAt: at })
    .where(and(its, gt(codes.expiresAt, at)))
    .returning({ addressId: codes.addressId })
  if (!used) {
    const late = await tx.select({ id: codes.id }).from(codes).where(its)
    return late.length > 0 ? 'expired' : 'wrong'
  }
  if (used.addressId)
    await tx
      .update(verifiableAddresses)
      .set({ verified: true, status: 'completed', verifiedAt: at, updatedAt: at })
      .where(eq(verifiableAddresses.id, used.addressId))
  return 'verified'
}

function hashOf(app: App, flow: Flow, code: string): Buffer {
  return app.keys.sign('code', flow.id, code.trim())
}
